//! Rows for programs: a name for each column, and a field for each column in every row. The files `csv.rs` and `tsv.rs` write them.

/// A column: its name, and its field in a row; an unknown figure is an empty field.
pub(crate) type Field<T> = (&'static str, fn(&T) -> Option<String>);

/// Rows with a header.
#[derive(Clone, Debug)]
pub struct Records {
    head: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Records {
    /// No rows yet, under these names.
    pub fn new(head: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self { head: head.into_iter().map(Into::into).collect(), rows: Vec::new() }
    }

    /// A row for each of these, with a field for each column.
    pub(crate) fn of<T>(
        rows: impl IntoIterator<Item = T>,
        fields: impl IntoIterator<Item = Field<T>>,
    ) -> Self {
        let fields: Vec<Field<T>> = fields.into_iter().collect();
        let mut records = Self::new(fields.iter().map(|(name, _)| *name));
        for row in rows {
            records.row(fields.iter().map(|(_, field)| field(&row).unwrap_or_default()));
        }
        records
    }

    /// Adds a row; an unknown figure is an empty field.
    pub fn row(&mut self, fields: impl IntoIterator<Item = String>) {
        self.rows.push(fields.into_iter().collect());
    }

    /// The header, then the rows, each by this writer of lines.
    pub(crate) fn lines(&self, line: fn(&[String]) -> String) -> String {
        std::iter::once(&self.head).chain(&self.rows).map(|fields| line(fields)).collect()
    }
}

/// A field that is known.
#[expect(clippy::needless_pass_by_value, reason = "a column's value is made for it")]
#[expect(clippy::unnecessary_wraps, reason = "a column may be unknown, though this one is not")]
pub(crate) fn text(value: impl ToString) -> Option<String> {
    Some(value.to_string())
}

/// A number with so many decimals, if it is one.
pub(crate) fn decimals(value: f64, decimals: usize) -> Option<String> {
    value.is_finite().then(|| format!("{value:.decimals$}"))
}
