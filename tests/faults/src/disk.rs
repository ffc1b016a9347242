//! Full disks: file systems of many sizes, most of them too small.

use crate::place::{DEDUP, Found, OUTPUTS, Place, run};
use crate::seen_store::copy;
use crate::{Extent, Row, Torture};
use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

/// Mounts a file system of `size` bytes in memory, or says why it cannot.
fn mount(place: &Place, size: u64) -> Result<(), String> {
    let small = place.path.join("more-small");
    fs::create_dir_all(&small).expect("a directory");
    let options = format!("size={size}");
    let mut command = Command::new("mount");
    command.args(["-t", "tmpfs", "-o", &options, "tmpfs"]).arg(&small);
    let output = run(&mut command)?;
    if output.status.success() {
        return Ok(());
    }
    Err(String::from_utf8_lossy(&output.stderr).trim().to_owned())
}

fn unmount(place: &Place) {
    let _ = Command::new("umount").arg(place.path.join("more-small")).status();
}

/// Each of the outputs on disks of growing size, until it fits.
pub fn full(torture: &mut Torture) -> Row {
    let mut row = Row::new("disk full: status 2 with the name, old output there, nothing left");
    // As many records are rejected and reported as are found.
    let place = Place::new(torture, "disk", 3_000);
    if let Err(why) = mount(&place, 1 << 20) {
        return row.skipped(why);
    }
    unmount(&place);
    let steps = if torture.extent == Extent::Full { 64 } else { 8 };
    let (mut failed, mut complete) = (0, 0);
    for name in OUTPUTS {
        let need = match name {
            "out" => place.out.len(),
            "rejects" => place.rejects.len(),
            _ => 4096,
        };
        // The old file is on the disk, too. The largest disk has up to a page more than is needed.
        let (least, most) = (8192, 4096 + need.next_multiple_of(4096) as u64 + 8192);
        for step in 0..=steps {
            let size = least + (most - least) * step / steps;
            if let Err(why) = mount(&place, size / 4096 * 4096) {
                row.broken.push(format!("mount of {size} bytes: {why}"));
                continue;
            }
            // The link points to the small disk, and its target is replaced.
            let file = place.path.join(name);
            let on_disk = place.path.join("more-small").join(name);
            fs::remove_file(&file).expect("there");
            symlink(&on_disk, &file).expect("linked");
            place.age();
            let result = run(place.command(&torture.command).args(DEDUP));
            let found = place.outputs();
            let left = fs::read_dir(place.path.join("more-small")).expect("readable").count();
            let (code, said) = match result {
                Ok(run) => (run.status.code(), String::from_utf8_lossy(&run.stderr).into_owned()),
                Err(why) => (None, why),
            };
            match (code, found) {
                (Some(0), Ok(Found::New)) if left == 1 => complete += 1,
                (Some(2), Ok(Found::Old | Found::Told)) if left == 1 => {
                    failed += 1;
                    if !said.contains(&format!("{name}: No space left")) {
                        row.broken.push(format!("{name} on {size} bytes: it said {said:?}"));
                    }
                }
                other => {
                    row.broken.push(format!("{name} on {size} bytes: {other:?}, {left} files"))
                }
            }
            unmount(&place);
            fs::remove_file(&file).expect("there");
            place.age();
        }
    }
    row.figure = format!("{failed} disks too small, {complete} large enough");
    if failed == 0 || complete == 0 {
        row.broken.push("all disks were alike".to_owned());
    }
    row
}

/// Adds to a store before the one that is tried: one more makes enough runs of a size to be merged.
const ADDS: usize = 9;

/// A seen store on disks of growing size: an add does not fit, then it does but not the merge after it, then
/// both do.
pub fn store(torture: &mut Torture) -> Row {
    let mut row = Row::new(
        "disk full while a seen store grows: status 2 and the store as before, or 0 and all keys",
    );
    let place = Place::new(torture, "seen-disk", 20_000);
    if let Err(why) = mount(&place, 1 << 20) {
        return row.skipped(why);
    }
    unmount(&place);
    let url =
        |i: usize| format!("http://host{}.example/{}?q={}\n", i % 97, i * 7919 % 1_000_003, i);
    let list = |range: std::ops::Range<usize>| range.map(url).collect::<String>();
    let old = |add: usize| format!("more-old{add}");
    for add in 0..ADDS {
        fs::write(place.path.join(old(add)), list(add * 1000..add * 1000 + 1000)).expect("written");
    }
    let (before, after) = (ADDS * 1000, 2 * ADDS * 1000);
    fs::write(place.path.join("more-new"), list(before..after)).expect("written");
    let command = |arguments: &[&str]| run(place.command(&torture.command).args(arguments));
    let add =
        |store: &str| command(&["dedup", "-q", "more-new", "--save-seen", store, "-o", "more-out"]);
    let size = |store: &str| -> u64 {
        let files = fs::read_dir(place.path.join(store)).expect("readable").flatten();
        files.map(|file| file.metadata().expect("there").len().next_multiple_of(4096)).sum()
    };
    for number in 0..ADDS {
        let made = command(&["seen", "add", "more-store", &old(number)]);
        assert!(made.is_ok_and(|run| run.status.success()), "a store can be made");
    }
    // The smallest disk holds the first adds alone, and the largest the last one and its merge too.
    let base = place.path.join("more-base");
    copy(&place.path.join("more-store"), &base);
    let least = size("more-store") + 4096;
    assert!(add("more-store").is_ok_and(|run| run.status.success()), "it can grow");
    let most = least + 2 * size("more-store");
    let steps = if torture.extent == Extent::Full { 64 } else { 8 };
    let [mut failed, mut unmerged, mut complete] = [0; 3];
    for step in 0..=steps {
        let size = least + (most - least) * step / steps;
        if let Err(why) = mount(&place, size / 4096 * 4096) {
            row.broken.push(format!("mount of {size} bytes: {why}"));
            continue;
        }
        let store = "more-small/store";
        copy(&base, &place.path.join(store));
        let _ = fs::remove_file(place.path.join("more-out"));
        let added = add(store);
        let is_named = place.path.join("more-out").exists();
        let exported = command(&["seen", "export", store]);
        let lines = |text: &[u8]| text.iter().filter(|byte| **byte == b'\n').count();
        match (added, exported) {
            (Ok(added), Ok(exported)) => {
                let said = String::from_utf8_lossy(&added.stderr).into_owned();
                let is_told = said.contains("No space left");
                let is_warning = said.contains("warning: ") && said.contains("is changed");
                match (added.status.code(), lines(&exported.stdout), is_named) {
                    (Some(2), held, false) if held == before && is_told => failed += 1,
                    (Some(0), held, true) if held == after && is_told && is_warning => {
                        unmerged += 1;
                    }
                    (Some(0), held, true) if held == after && said.is_empty() => complete += 1,
                    found => row.broken.push(format!("{size} bytes: {found:?}, {said:?}")),
                }
            }
            (added, ..) => row.broken.push(format!("{size} bytes: {added:?}")),
        }
        unmount(&place);
    }
    row.figure =
        format!("{failed} adds failed, {unmerged} merges failed, {complete} disks sufficed");
    if [failed, unmerged, complete].contains(&0) {
        row.broken.push("all disks were alike".to_owned());
    }
    row
}
