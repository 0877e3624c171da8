//! Forms with files: what browsers send, what is cut off, and any bytes at all.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use proptest::prelude::*;
use wire::multipart::{MultipartError, files};

const TYPE: &str = "multipart/form-data; boundary=b";

fn part(disposition: &str, content: &str) -> String {
    format!(
        "--b\r\nContent-Disposition: form-data; {disposition}\r\nContent-Type: text/plain\r\n\r\n{content}\r\n"
    )
}

/// Names and contents, as text.
fn read(content_type: &str, body: &str) -> Result<Vec<(String, String)>, MultipartError> {
    let files = files(content_type, body.as_bytes())?;
    Ok(files.into_iter().map(|f| (f.name, String::from_utf8_lossy(f.bytes).into_owned())).collect())
}

#[test]
fn files_come_out_and_other_fields_do_not() {
    let body = part("name=\"x\"", "no file")
        + &part("name=\"file\"; filename=\"a.txt\"", "one\r\ntwo\r\n--bread\r\n")
        + &part("name=\"file\"; filename=\"\"", "")
        + &part("filename=empty.txt; name=file", "")
        + "--b--\r\nepilogue";
    // The boundary's own bytes never stand in a content (RFC 2046 section 5.1): a browser chooses it so.
    assert_eq!(read(TYPE, &body), Err(MultipartError::Head));
    let body = body.replace("--bread", "--read");
    let expected = [("a.txt", "one\r\ntwo\r\n--read\r\n"), ("empty.txt", "")];
    let expected: Vec<(String, String)> =
        expected.iter().map(|(n, c)| ((*n).to_owned(), (*c).to_owned())).collect();
    assert_eq!(read(TYPE, &body), Ok(expected.clone()));
    assert_eq!(read("Multipart/Form-Data;charset=x; BOUNDARY=\"b\"", &body), Ok(expected.clone()));
    assert_eq!(read(TYPE, &format!("preamble\r\n{body}")), Ok(expected.clone()));
    assert_eq!(read(TYPE, &body.replace("--b\r\n", "--b \t\r\n")), Ok(expected));
    assert_eq!(read(TYPE, "--b--"), Ok(Vec::new()), "nothing was chosen");
}

#[test]
fn a_name_is_what_the_file_is_called() {
    for (written, name) in [
        ("a%22b.txt", "a\"b.txt"),
        ("a\\\"b.txt", "a\"b.txt"),
        ("50%.txt", "50%.txt"),
        ("ü; filename=x.txt", "ü; filename=x.txt"),
        ("a\\b.txt", "a\\b.txt"),
        ("a%0D%0Ab", "a\r\nb"),
    ] {
        let body = part(&format!("name=\"file\"; filename=\"{written}\""), "x") + "--b--";
        assert_eq!(read(TYPE, &body), Ok(vec![(name.to_owned(), "x".to_owned())]), "{written}");
    }
}

#[test]
fn what_is_no_form_is_told_apart() {
    let whole = part("name=\"f\"; filename=\"a\"", "x") + "--b--";
    let too_long = format!("multipart/form-data; boundary={}", "b".repeat(71));
    for (content_type, body, error) in [
        ("application/x-www-form-urlencoded", &*whole, MultipartError::Type),
        ("", &whole, MultipartError::Type),
        ("multipart/form-data", &whole, MultipartError::Boundary),
        ("multipart/form-data; boundary=", &whole, MultipartError::Boundary),
        ("multipart/form-data; boundary=\"b", &whole, MultipartError::Boundary),
        (&too_long, &whole, MultipartError::Boundary),
        (TYPE, "", MultipartError::Start),
        (TYPE, "file=x", MultipartError::Start),
        (TYPE, "--b", MultipartError::Head),
        (TYPE, "--b\r\n", MultipartError::Truncated),
        (TYPE, "--b\r\nno field\r\n\r\nx\r\n--b--", MultipartError::Head),
        (TYPE, "--b\r\nA: b\r\n\r\nx\r\n--b--", MultipartError::Head),
        (TYPE, &part("filename=a", "x"), MultipartError::Truncated),
        (TYPE, &(part("filename=a", "x").repeat(101) + "--b--"), MultipartError::TooMany),
    ] {
        assert_eq!(read(content_type, body), Err(error), "{content_type:?} {body:?}");
    }
}

proptest! {
    #[test]
    fn what_is_put_in_comes_out(contents in prop::collection::vec("[ -~\r\n]{0,60}", 0..5)) {
        // No content has this boundary in it: it is not of those bytes.
        let boundary = "\u{e9}";
        let mut body = String::new();
        for (n, content) in contents.iter().enumerate() {
            body += &format!("--{boundary}\r\nContent-Disposition: form-data; filename=\"{n}\"\r\n\r\n{content}\r\n");
        }
        body += &format!("--{boundary}--");
        let expected: Vec<(String, String)> =
            contents.iter().enumerate().map(|(n, content)| (n.to_string(), content.clone())).collect();
        prop_assert_eq!(read(&format!("multipart/form-data; boundary={boundary}"), &body), Ok(expected));
    }

    #[test]
    fn any_bytes_are_read_or_refused(
        kind in "(multipart/form-data; boundary=(b|\"b\"))|[ -~]{0,40}",
        pieces in prop::collection::vec(
            prop_oneof![
                Just(b"--b".to_vec()), Just(b"\r\n".to_vec()), Just(b"--".to_vec()),
                Just(b"Content-Disposition: form-data; filename=\"a\"\r\n\r\n".to_vec()),
                prop::collection::vec(any::<u8>(), 0..20),
            ],
            0..20,
        ),
    ) {
        let body = pieces.concat();
        for file in files(&kind, &body).unwrap_or_default() {
            prop_assert!(!file.name.is_empty() && body.as_ptr_range().contains(&file.bytes.as_ptr()));
        }
    }
}
