//! Faults over time and memory: each one while they are few; beyond that the longest ones, and the number of all in a
//! grid.

use std::collections::{BTreeMap, HashMap};

use serde::Serialize;

use super::{
    address_axis::{self, CHUNK_PAGES_LOG2, Chunk, Segment},
    fault::{Brief, Whats},
    names::Names,
};
use crate::{longest::Longest, recording::line::Role, report::model::Region};

/// Up to so many faults are drawn one by one.
const MOST_POINTS: usize = 20_000;

/// Beyond that, so many of the longest are.
const LONGEST_POINTS: usize = 4_000;

/// The grid's columns, over the time of the trace.
const COLUMNS: u32 = 240;

/// Its rows, over the axis of addresses.
const ROWS: u32 = 90;

/// One fault.
#[derive(Debug)]
struct Point {
    at_us: i64,
    page: u64,
    ns: u64,
    pause: u64,
    tid: u32,
    what: u32,
    sort: u32,
}

/// Where in the grid, on the axis of chunks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Cell {
    column: u32,
    row: u64,
    kind: usize,
    role: u64,
}

/// How many faults, how long in all, and the longest.
#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    count: u64,
    ns: u64,
    longest_ns: u64,
}

impl Sum {
    fn add(&mut self, other: Self) {
        self.count += other.count;
        self.ns = self.ns.saturating_add(other.ns);
        self.longest_ns = self.longest_ns.max(other.longest_ns);
    }
}

/// Takes faults.
#[derive(Debug)]
pub(super) struct Scatter {
    column_ns: u64,
    count: u64,
    points: Vec<Point>,
    longest: Longest<Point>,
    chunks: BTreeMap<u64, Chunk>,
    cells: HashMap<(Cell, Region), Sum>,
}

/// What the page gets.
#[derive(Debug, Default, Serialize)]
pub(super) struct Points {
    /// How many faults there are.
    pub(super) of: u64,
    /// Whether only the longest ones are among the points: then the grid has the number of all of them.
    pub(super) is_dense: bool,
    at_us: Vec<i64>,
    page: Vec<u64>,
    ns: Vec<u64>,
    pause: Vec<u64>,
    tid: Vec<u32>,
    what: Vec<u32>,
    /// Kind, then bits from 32 on: inferred 32, major 64, place inferred 128, role 256 (0 to 2), region 1024.
    sort: Vec<u32>,
    /// The axis of addresses.
    segments: Vec<Segment>,
    /// How long a column is.
    column_ns: u64,
    columns: u32,
    rows: u32,
    /// Column, row, kind, role, count, ns, longest ns: on the axis of addresses.
    by_address: Vec<[u64; 7]>,
    /// Column, region, kind, role, count, ns, longest ns.
    by_region: Vec<[u64; 7]>,
}

impl Scatter {
    /// For a trace of this length.
    pub(super) fn new(duration_ns: u64) -> Self {
        Self {
            column_ns: (duration_ns / u64::from(COLUMNS) + 1).max(1),
            count: 0,
            points: Vec::new(),
            longest: Longest::new(LONGEST_POINTS),
            chunks: BTreeMap::new(),
            cells: HashMap::new(),
        }
    }

    /// Takes one.
    pub(super) fn add(&mut self, fault: &Brief) {
        self.count += 1;
        let (ns, page) = (fault.ns, fault.page);
        let chunk = page >> CHUNK_PAGES_LOG2;
        let known = self.chunks.entry(chunk).or_insert_with(|| Chunk {
            count: 0,
            least_page: page,
            most_page: page,
            regions: BTreeMap::new(),
        });
        known.count += 1;
        known.least_page = known.least_page.min(page);
        known.most_page = known.most_page.max(page);
        *known.regions.entry(fault.region).or_default() += 1;

        let column = u64::try_from(fault.begin_ns.max(0)).unwrap_or(0) / self.column_ns;
        let column = u32::try_from(column).unwrap_or(u32::MAX).min(COLUMNS - 1);
        let cell = Cell { column, row: chunk, kind: fault.kind_number(), role: role_number(fault.role) };
        let sum = Sum { count: 1, ns, longest_ns: ns };
        self.cells.entry((cell, fault.region)).or_default().add(sum);

        let in_full = self.points.len() < MOST_POINTS;
        if in_full || self.longest.wants(ns) {
            let point = || Point {
                at_us: fault.begin_ns.div_euclid(1_000),
                page,
                ns,
                pause: fault.pause,
                tid: fault.tid,
                what: fault.what,
                sort: sort(fault),
            };
            if in_full {
                self.points.push(point());
            }
            self.longest.offer(ns, self.count, point());
        }
    }

    /// What the page gets.
    pub(super) fn into_points(self, whats: &Whats, names: &mut Names) -> Points {
        let is_dense = self.count > self.points.len() as u64;
        let segments = address_axis::segments(&self.chunks);
        let mut points = Points {
            of: self.count,
            is_dense,
            column_ns: self.column_ns,
            columns: COLUMNS,
            rows: ROWS,
            ..Points::default()
        };
        let chosen = if is_dense { self.longest.into_sorted() } else { self.points };
        let mut chosen = chosen;
        chosen.sort_by_key(|point| point.at_us);
        for point in chosen {
            points.at_us.push(point.at_us);
            points.page.push(point.page);
            points.ns.push(point.ns);
            points.pause.push(point.pause);
            points.tid.push(point.tid);
            points.what.push(names.number(whats.words(point.what)));
            points.sort.push(point.sort);
        }
        if is_dense {
            let (mut by_address, mut by_region) = (BTreeMap::new(), BTreeMap::new());
            for ((cell, region), sum) in self.cells {
                let place = address_axis::place(
                    &segments,
                    (cell.row << CHUNK_PAGES_LOG2) + (1 << (CHUNK_PAGES_LOG2 - 1)),
                );
                // Truncated on purpose: which row.
                let row = ((place * f64::from(ROWS)) as u64).min(u64::from(ROWS) - 1);
                by_address.entry(Cell { row, ..cell }).or_insert_with(Sum::default).add(sum);
                by_region
                    .entry(Cell { row: region_number(region), ..cell })
                    .or_insert_with(Sum::default)
                    .add(sum);
            }
            points.by_address = by_address.into_iter().map(row).collect();
            points.by_region = by_region.into_iter().map(row).collect();
        }
        points.segments = segments;
        points
    }
}

fn row((cell, sum): (Cell, Sum)) -> [u64; 7] {
    [u64::from(cell.column), cell.row, cell.kind as u64, cell.role, sum.count, sum.ns, sum.longest_ns]
}

fn sort(fault: &Brief) -> u32 {
    let flag = |is: bool, bit: u32| if is { bit } else { 0 };
    // All of them are small.
    let small = |n: u64| u32::try_from(n).unwrap_or(0);
    small(fault.kind_number() as u64)
        + flag(fault.inferred, 32)
        + flag(fault.major, 64)
        + flag(fault.place_inferred, 128)
        + small(role_number(fault.role)) * 256
        + small(region_number(fault.region)) * 1024
}

/// A region's number in [`Region::ALL`].
fn region_number(region: Region) -> u64 {
    Region::ALL.iter().position(|known| *known == region).unwrap_or(Region::ALL.len() - 1) as u64
}

fn role_number(role: Role) -> u64 {
    match role {
        Role::Driver => 0,
        Role::Worker => 1,
        Role::Bystander => 2,
    }
}
