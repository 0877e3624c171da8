//! Makes contenders of container images, for a race.

use super::commands::{contender, raced};
use super::{Lineup, SetupError};
use control::containers::Launch;
use model::run::{ContainerImage, Entrant};
use std::collections::BTreeMap;

/// An image that takes part in a race, and how it is run.
#[derive(Clone, Debug)]
pub struct RacedImage {
    /// The image.
    pub image: ContainerImage,
    /// How it is run.
    pub launch: Launch,
}

impl RacedImage {
    /// What reports show as its command: the image and the words after it.
    fn shown(&self) -> String {
        let ContainerImage { name, id, .. } = &self.image;
        let words: String = self.launch.words.iter().map(|word| format!(" {}", quoted(word))).collect();
        format!("{name} ({id}){words}")
    }
}

/// A word, in quotes where its end could not be seen otherwise.
fn quoted(word: &str) -> String {
    if word.is_empty() || word.contains(char::is_whitespace) { format!("'{word}'") } else { word.to_owned() }
}

/// Makes contenders of container images; `path` is requested of them, and any answer will do. They are named by letters, and
/// their titles are short labels.
pub fn images(images: &[RacedImage], path: &str) -> Result<(Lineup, BTreeMap<String, Entrant>), SetupError> {
    raced(
        images,
        |raced| &raced.image.name,
        |letter, raced| {
            let RacedImage { image, launch } = raced;
            let command = [launch.tool.words(), std::slice::from_ref(&image.id), &launch.words].concat();
            let mut own = contender(letter, &image.name, command, path)?;
            own.launch = Some(launch.clone());
            let entrant = Entrant {
                command: vec![raced.shown()],
                source_sha256: image.id.strip_prefix("sha256:").map(str::to_owned),
                image: Some(image.clone()),
                ..Entrant::default()
            };
            Ok((own, entrant))
        },
    )
}

#[cfg(test)]
mod tests {
    use super::super::short_labels;
    use super::*;
    use control::containers::Tool;

    #[test]
    fn images_are_labelled_by_what_differs_and_shown_with_their_identity() {
        let raced = |name: &str, digit: &str| RacedImage {
            image: ContainerImage {
                name: name.to_owned(),
                id: format!("sha256:{}", digit.repeat(64)),
                digest: None,
            },
            launch: Launch {
                tool: Tool::of(vec!["podman".to_owned()]).unwrap(),
                args: Vec::new(),
                env: Vec::new(),
                image: digit.repeat(64),
                words: ["sh", "-c", "exec /app {port}"].map(str::to_owned).to_vec(),
                sets_cpus: true,
            },
        };
        let all = [raced("localhost/app:old", "a"), raced("localhost/app:new", "b")];
        assert_eq!(
            short_labels(&all.each_ref().map(|raced| raced.image.name.as_str())),
            ["app:old", "app:new"]
        );
        assert_eq!(
            all[0].shown(),
            format!("localhost/app:old (sha256:{}) sh -c 'exec /app {{port}}'", "a".repeat(64))
        );
    }
}
