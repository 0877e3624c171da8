//! ab's report as tables in HTML (`-w`): with fewer figures, and with processing times that are only differences.

use super::options::Html;
use super::report::Facts;
use super::times::ms;

/// The whole report.
pub fn tables(facts: &Facts<'_>, html: &Html) -> String {
    let heard = facts.heard;
    let mut page = Page { html, text: format!("\n\n<table {}>\n", html.table) };
    let [server, document, requests, answers] = facts.rows();
    [server, document, requests].iter().for_each(|rows| page.rows(rows));
    if heard.bad > 0 {
        let (length, exceptions) = (heard.length, heard.exceptions);
        page.text.push_str(&format!(
            "<tr {}><td colspan=4 {} >   (Connect: 0, Length: {length}, Exceptions: {exceptions})</td></tr>\n",
            html.row, html.cell
        ));
    }
    page.rows(&answers);
    page.rates(facts);
    page.times(facts);
    page.text.push_str("</table>\n");
    page.text
}

struct Page<'a> {
    html: &'a Html,
    text: String,
}

impl Page<'_> {
    fn row(&mut self, label: &str, value: &str) {
        let Html { row, cell, .. } = self.html;
        self.text.push_str(&format!(
            "<tr {row}><th colspan=2 {cell}>{label}</th><td colspan=2 {cell}>{value}</td></tr>\n"
        ));
    }

    fn rows(&mut self, rows: &[(&str, String)]) {
        rows.iter().for_each(|(label, value)| self.row(label, value));
    }

    fn rates(&mut self, facts: &Facts<'_>) {
        let seconds = facts.seconds();
        if seconds == 0.0 {
            return;
        }
        let kb_per_s = |bytes: u64| bytes as f64 / 1024.0 / seconds;
        let (received, sent) = (facts.tally.received_bytes, facts.tally.sent_bytes);
        self.row("Requests per second:", &format!("{:.2}", facts.heard.done() as f64 / seconds));
        self.row("Transfer rate:", &format!("{:.2} kb/s received", kb_per_s(received)));
        if facts.options.body.is_some() {
            let Html { row, cell, .. } = self.html;
            for (bytes, what) in [(sent, "sent"), (sent + received, "total")] {
                self.text.push_str(&format!(
                    "<tr {row}><td colspan=2 {cell}>&nbsp;</td><td colspan=2 {cell}>{:.2} kb/s {what}</td></tr>\n",
                    kb_per_s(bytes)
                ));
            }
        }
    }

    fn times(&mut self, facts: &Facts<'_>) {
        let times = &facts.heard.times;
        let done = times.len() as u64;
        let connects = || times.iter().map(|t| t.connect);
        let totals = || times.iter().map(|t| t.total);
        let (Some(min_connect), Some(max_connect), Some(min_total), Some(max_total)) =
            (connects().min(), connects().max(), totals().min(), totals().max())
        else {
            return;
        };
        // ab rounds the sums before it divides them.
        let (connect, total) = (ms(connects().sum()) / done, ms(totals().sum()) / done);
        let (min_connect, max_connect) = (ms(min_connect), ms(max_connect));
        let (min_total, max_total) = (ms(min_total), ms(max_total));
        let Html { row, cell, .. } = self.html;
        self.text.push_str(&format!("<tr {row}><th {cell} colspan=4>Connection Times (ms)</th></tr>\n"));
        self.text.push_str(&format!(
            "<tr {row}><th {cell}>&nbsp;</th> <th {cell}>min</th>   <th {cell}>avg</th>   <th {cell}>max</th></tr>\n"
        ));
        let rows = [
            ("Connect:", min_connect, connect, max_connect),
            (
                "Processing:",
                min_total.saturating_sub(min_connect),
                total.saturating_sub(connect),
                max_total.saturating_sub(max_connect),
            ),
            ("Total:", min_total, total, max_total),
        ];
        for (label, min, mean, max) in rows {
            self.text.push_str(&format!(
                "<tr {row}><th {cell}>{label}</th><td {cell}>{min:>5}</td><td {cell}>{mean:>5}</td><td {cell}>{max:>5}</td></tr>\n"
            ));
        }
    }
}
