//! Profiles of a run's contenders, for its page. The store does not look into them: the programs that write and read them know their form.

use super::{Store, StoreError};
use rusqlite::{OptionalExtension, params};

/// The profile of one contender.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProfileRow {
    /// The contender's name; in a race its letter.
    pub contender: String,
    /// What a list of profiles shows, as JSON: small.
    pub json: String,
    /// The calls with their samples, as JSON: up to a megabyte.
    pub tree: String,
}

impl Store {
    /// Stores the profiles of a run in place of earlier ones, committed together when this returns.
    pub fn keep_profiles(&self, run: &str, profiles: &[ProfileRow]) -> Result<(), StoreError> {
        let sql = "insert into profile (run, contender, json, tree) values (?, ?, ?, ?)";
        let keep = || -> rusqlite::Result<()> {
            let kept = self.db.unchecked_transaction()?;
            kept.execute("delete from profile where run = ?", [run])?;
            for ProfileRow { contender, json, tree } in profiles {
                kept.execute(sql, params![run, contender, json, tree])?;
            }
            kept.commit()
        };
        keep().map_err(|e| self.wrap(e))
    }

    /// The profiles of a run in the order of their contenders, without the calls: each contender and its JSON.
    pub fn profiles(&self, run: &str) -> Result<Vec<(String, String)>, StoreError> {
        let read = || -> rusqlite::Result<Vec<(String, String)>> {
            let mut query =
                self.db.prepare("select contender, json from profile where run = ? order by contender")?;
            query.query_map([run], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
        };
        read().map_err(|e| self.wrap(e))
    }

    /// The profile of one contender of a run; `None`: there is none.
    pub fn profile(&self, run: &str, contender: &str) -> Result<Option<ProfileRow>, StoreError> {
        let sql = "select contender, json, tree from profile where run = ? and contender = ?";
        let read = self.db.query_row(sql, [run, contender], |row| {
            Ok(ProfileRow { contender: row.get(0)?, json: row.get(1)?, tree: row.get(2)? })
        });
        read.optional().map_err(|e| self.wrap(e))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use judge::example;

    fn row(contender: &str, what: &str) -> ProfileRow {
        ProfileRow {
            contender: contender.to_owned(),
            json: format!("{{\"title\":\"{what}\"}}"),
            tree: format!("[\"{what}\"]"),
        }
    }

    /// A store with a run, in a folder.
    fn begun() -> (tempfile::TempDir, Store, String) {
        let folder = tempfile::tempdir().unwrap();
        let (store, run) = (Store::open(&folder.path().join("s")).unwrap(), example::run(&["a"]));
        store.add_run(&run).unwrap();
        (folder, store, run.id)
    }

    fn count(store: &Store) -> i64 {
        store.db.query_row("select count(*) from profile", [], |row| row.get(0)).unwrap()
    }

    #[test]
    fn profiles_come_back_and_later_ones_replace_them() {
        let (_folder, store, run) = begun();
        assert_eq!(store.profiles(&run).unwrap(), []);
        assert_eq!(store.profile(&run, "A").unwrap(), None);
        store.keep_profiles(&run, &[row("B", "new"), row("A", "old"), row("C", "third")]).unwrap();
        let names = |store: &Store| -> Vec<String> {
            store.profiles(&run).unwrap().into_iter().map(|(contender, _)| contender).collect()
        };
        assert_eq!(names(&store), ["A", "B", "C"], "by letter");
        assert_eq!(store.profile(&run, "B").unwrap(), Some(row("B", "new")));
        assert_eq!(store.profile("another", "B").unwrap(), None);
        assert_eq!(store.profiles(&run).unwrap()[0].1, row("A", "old").json);
        store.keep_profiles(&run, &[row("A", "again")]).unwrap();
        assert_eq!(names(&store), ["A"], "C was of the earlier ones");
        assert_eq!(store.profile(&run, "A").unwrap(), Some(row("A", "again")));
    }

    #[test]
    fn of_profiles_that_can_not_all_be_stored_none_is_and_the_earlier_ones_stay() {
        let (_folder, store, run) = begun();
        store.keep_profiles(&run, &[row("A", "old")]).unwrap();
        let error =
            store.keep_profiles(&run, &[row("A", "new"), row("B", "new"), row("B", "twice")]).unwrap_err();
        assert!(matches!(error, StoreError::Sqlite { .. }), "{error}");
        assert_eq!(store.profile(&run, "A").unwrap(), Some(row("A", "old")));
        let error = store.keep_profiles("no such run", &[row("A", "new")]).unwrap_err();
        assert!(matches!(error, StoreError::Sqlite { .. }), "a profile needs its run: {error}");
        assert_eq!(count(&store), 1);
    }

    #[test]
    fn the_profiles_of_a_run_are_deleted_with_it() {
        let (_folder, store, run) = begun();
        let other = model::Run { id: "another".to_owned(), ..example::run(&["a"]) };
        store.add_run(&other).unwrap();
        for run in [&run, &other.id] {
            store.keep_profiles(run, &[row("A", "old"), row("B", "new")]).unwrap();
        }
        store.db.execute("delete from run where id = ?", [&run]).unwrap();
        assert_eq!(store.profiles(&run).unwrap(), []);
        assert_eq!((count(&store), store.profiles("another").unwrap().len()), (2, 2), "no other run's");
    }
}
