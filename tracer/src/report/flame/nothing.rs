//! The picture of nothing: a flame graph of no faults can't be drawn, and an empty file would not say why.

use std::io::Write;

/// Writes an SVG with these lines, and that there were no faults.
pub(super) fn write(title: &str, subtitle: &str, out: &mut dyn Write) -> anyhow::Result<()> {
    writeln!(out, r#"<?xml version="1.0" standalone="no"?>"#)?;
    writeln!(
        out,
        r##"<svg xmlns="http://www.w3.org/2000/svg" width="1200" height="100" viewBox="0 0 1200 100">"##
    )?;
    writeln!(out, r##"<rect width="100%" height="100%" fill="#eeeeee"/>"##)?;
    for (line, y) in [title, subtitle, "no faults in complete pauses"].iter().zip([30, 55, 85]) {
        let line = escape(line);
        writeln!(
            out,
            r#"<text x="600" y="{y}" text-anchor="middle" font-family="monospace" font-size="12">{line}</text>"#
        )?;
    }
    writeln!(out, "</svg>")?;
    Ok(())
}

/// For XML's text.
fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
