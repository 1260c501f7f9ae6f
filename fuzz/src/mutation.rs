//! Changes the lines of a recording so that they stay JSON: the fuzzer gets to what is behind the parser.

use serde_json::{Value, json};

/// A small generator of numbers from the fuzzer's seed (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % most.max(1) as u64) as usize
    }
}

/// Changes one to four things in the lines. `None` when none of them is JSON.
pub fn mutate_lines(text: &[u8], seed: u32) -> Option<Vec<u8>> {
    let mut random = Random(u64::from(seed) | 1 << 40);
    let mut lines: Vec<Value> = text
        .split(|byte| *byte == b'\n')
        .take(300)
        .filter_map(|line| serde_json::from_slice(line).ok())
        .collect();
    if lines.is_empty() {
        return None;
    }
    for _ in 0..=random.below(4) {
        let at = random.below(lines.len());
        match random.below(12) {
            0 => lines.push(lines[at].clone()),
            1 if lines.len() > 1 => drop(lines.remove(at)),
            2 => {
                let other = random.below(lines.len());
                lines.swap(at, other);
            }
            3 => {
                // A part of one line into another.
                let from = random.below(lines.len());
                let part = pick(&mut lines[from], &mut random).clone();
                *pick(&mut lines[at], &mut random) = part;
            }
            _ => change(pick(&mut lines[at], &mut random), &mut random),
        }
    }
    let mut out = Vec::new();
    for line in lines {
        serde_json::to_writer(&mut out, &line).ok()?;
        out.push(b'\n');
    }
    Some(out)
}

/// Some value in this one, or itself.
fn pick<'a>(value: &'a mut Value, random: &mut Random) -> &'a mut Value {
    let inside = match value {
        Value::Array(items) => items.len(),
        Value::Object(fields) => fields.len(),
        _ => 0,
    };
    if inside == 0 || random.below(12) == 0 {
        return value;
    }
    let at = random.below(inside);
    let next = match value {
        Value::Array(items) => items.get_mut(at),
        Value::Object(fields) => fields.values_mut().nth(at),
        _ => None,
    };
    match next {
        Some(next) => pick(next, random),
        None => unreachable!("there are {inside}"),
    }
}

fn change(value: &mut Value, random: &mut Random) {
    const NUMBERS: [i64; 16] = [
        0,
        1,
        2,
        3,
        5,
        -1,
        -9_007_199_254_740_991,
        9_007_199_254_740_991,
        9_007_199_254_740_992,
        i64::MAX,
        i64::MIN,
        4_294_967_295,
        4_294_967_296,
        1_000_000,
        1_000_000_000,
        86_400_000_000_000,
    ];
    const TEXTS: [&str; 16] = [
        "",
        "@1",
        "@2",
        "@4294967296",
        "[stack lost]",
        "</script><b>&\"'",
        "a;b 1",
        "\u{1b}[2J\u{0}\u{7f}\r\n\t",
        "0x0",
        "0xffffffffffffffff",
        "=1+1",
        "\u{202e}\u{fffd}",
        "pauselens.recording/2",
        "complete",
        "open_at_attach",
        "swap_in",
    ];
    match value {
        Value::Object(fields) if random.below(2) == 0 && !fields.is_empty() => {
            let at = random.below(fields.len());
            if let Some(name) = fields.keys().nth(at).cloned() {
                fields.remove(&name);
            }
        }
        Value::Array(items) if random.below(3) != 0 => match (random.below(3), items.first().cloned()) {
            (0, _) => drop(items.pop()),
            (1, Some(first)) => items.push(first),
            (_, Some(first)) => items.extend((0..random.below(200)).map(|_| first.clone())),
            _ => {}
        },
        Value::String(text) if random.below(4) == 0 => *text = text.repeat(random.below(40)),
        _ => {
            *value = match random.below(8) {
                0 => Value::Null,
                1 => json!(random.below(2) == 0),
                2 | 3 | 4 => json!(NUMBERS[random.below(NUMBERS.len())]),
                5 => json!(u64::MAX),
                _ => json!(TEXTS[random.below(TEXTS.len())]),
            }
        }
    }
}
