//! Full disks: file systems of many sizes, most of them too small.

use crate::place::{DEDUP, Found, OUTPUTS, Place, run};
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

/// A seen store on disks of growing size, until an add fits.
pub fn store(torture: &mut Torture) -> Row {
    let mut row = Row::new("disk full while a seen store grows: status 2, the store as before");
    let place = Place::new(torture, "seen-disk", 20_000);
    if let Err(why) = mount(&place, 1 << 20) {
        return row.skipped(why);
    }
    unmount(&place);
    let command = |arguments: &[&str]| run(place.command(&torture.command).args(arguments));
    fs::write(place.path.join("more-first"), "http://first.example/\n").expect("written");
    // The smallest disk holds the first add alone.
    let most = 320 << 10;
    let steps = if torture.extent == Extent::Full { 64 } else { 8 };
    let (mut failed, mut complete) = (0, 0);
    for step in 1..=steps {
        let size = most * step / steps / 4096 * 4096;
        if let Err(why) = mount(&place, size) {
            row.broken.push(format!("mount of {size} bytes: {why}"));
            continue;
        }
        let store = "more-small/store";
        let first = command(&["seen", "add", store, "more-first"]);
        let added = command(&["seen", "add", store, "in"]);
        let exported = command(&["seen", "export", store]);
        match (first, added, exported) {
            (Ok(first), Ok(added), Ok(exported)) if first.status.success() => {
                let said = String::from_utf8_lossy(&added.stderr).into_owned();
                let lines = exported.stdout.iter().filter(|byte| **byte == b'\n').count();
                match added.status.code() {
                    Some(0) if lines > 1 => complete += 1,
                    Some(2) if lines == 1 && said.contains("No space left") => failed += 1,
                    code => {
                        row.broken.push(format!("{size} bytes: {code:?}, {lines} keys, {said:?}"))
                    }
                }
            }
            (first, ..) => row.broken.push(format!("{size} bytes: {first:?}")),
        }
        unmount(&place);
    }
    row.figure = format!("{failed} disks too small, {complete} large enough");
    if failed == 0 || complete == 0 {
        row.broken.push("all disks were alike".to_owned());
    }
    row
}
