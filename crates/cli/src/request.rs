//! The request for a run over inputs, made of the arguments.

use std::path::PathBuf;
use std::sync::Arc;

use crate::args::format::FormatChoice;
use crate::args::run_args::RunArgs;
use crate::stores::StoreOptions;
use uniqurl::{Key, Normalizer};
use uniqurl_engine::output::{self, Field, TableKind};
use uniqurl_engine::{Group, InputFormat, InputOptions, Job, JobPlan, LimitBy};
use uniqurl_formats::record::{EnvelopeChoice, Format, carrying};
use uniqurl_text::Secrets;

/// The error about a key that a profile file with its own ports cannot have.
pub(crate) const OWN_PORTS: &str =
    "ssurt needs the ports of the registry, but the profile file has others";

/// How the main output is divided among files of a directory.
pub(crate) struct Division {
    pub(crate) shards: u32,
    pub(crate) suffix: String,
}

/// A run over inputs: the plan of the engine, and the options that only the command needs.
pub(crate) struct Request {
    pub(crate) plan: JobPlan,
    pub(crate) name: output::JobKind,
    /// Lists from before the run.
    pub(crate) seen: Vec<PathBuf>,
    pub(crate) stores: StoreOptions,
    pub(crate) division: Option<Division>,
    /// Whether the records are written as they came, and where the others go.
    pub(crate) whole: Option<WholeRecords>,
}

/// Records are written as they came.
#[derive(Default)]
pub(crate) struct WholeRecords {
    /// Where those go that are not kept.
    pub(crate) dropped: Option<PathBuf>,
    /// The kind of both outputs, if they are tables.
    pub(crate) table: Option<TableKind>,
}

impl Request {
    /// A job with the options that all jobs have. An error is a sentence about those.
    pub(crate) fn new(common: &RunArgs, job: Job, name: output::JobKind) -> Result<Self, String> {
        let plan = plan(
            common,
            common.rules.normalizer(common.profile.profile)?.with_backend(common.backend),
            job,
        )?;
        let stores = StoreOptions::default();
        Ok(Self { plan, name, seen: Vec::new(), stores, division: None, whole: None })
    }

    /// Whether the options fit together.
    pub(crate) fn check(&self, common: &RunArgs) -> Result<(), String> {
        let JobPlan { normalizer, policy, output, .. } = &self.plan;
        let ssurt = common.key == Key::Ssurt || output.fields.contains(&Field::Ssurt);
        if ssurt && normalizer.has_own_ports() {
            return Err(OWN_PORTS.to_owned());
        }
        let profile = normalizer.profile().name();
        if output.fields.contains(&Field::Decoded) && !normalizer.has_decoded() {
            return Err(format!("profile {profile} has no column decoded, only servlet has"));
        }
        // The hosts of canonical URLs are ASCII, so a glob with other characters would
        // match none, without a word.
        let groups_templates =
            matches!(policy.limit_by, Some(LimitBy { group: Group::Template, .. }));
        let makes_templates =
            common.key == Key::Template || output.fields.contains(&Field::Template);
        if policy.routes.is_some() && !makes_templates && !groups_templates {
            return Err(
                "--routes acts on templates, and none is made without --key template".to_owned()
            );
        }
        let (hosts, others) = (&common.filters.host, &common.filters.not_host);
        let named = hosts.iter().map(|glob| ("--host", glob));
        let mut named = named.chain(others.iter().map(|glob| ("--not-host", glob)));
        if let Some((option, glob)) = named.find(|(_, glob)| !glob.is_ascii())
            && !normalizer.may_write_any_byte()
        {
            return Err(format!(
                "{option} {glob}: profile {profile} writes hosts in ASCII, as in xn--bcher-kva.example"
            ));
        }
        if let Some(byte) = common.delimiter
            && !matches!(&common.format, FormatChoice::Named(format) if format.with_delimiter(byte).is_some())
        {
            return Err("--delimiter goes with --format csv:COL".to_owned());
        }
        // A column that the format cannot have is wrong usage before any input is opened.
        if let FormatChoice::Named(format) = &common.format {
            let columns: Vec<String> =
                output.carry.iter().chain(policy.keep.column()).cloned().collect();
            carrying(format, &columns)?;
        }
        Ok(())
    }
}

/// The plan of a job, with the options that all jobs have.
fn plan(common: &RunArgs, normalizer: Normalizer, job: Job) -> Result<JobPlan, String> {
    let mut plan = JobPlan::new(normalizer, job);
    plan.input = InputOptions {
        format: match &common.format {
            FormatChoice::Auto if common.null => InputFormat::Fixed(Arc::new(Format::Lines)),
            // `read_format_file` has replaced an entry of the file by its format, so none comes here.
            FormatChoice::Auto | FormatChoice::InFile(_) => InputFormat::Auto,
            FormatChoice::Named(format) => {
                let delimited = common.delimiter.and_then(|byte| format.with_delimiter(byte));
                let format = delimited.unwrap_or_else(|| format.clone());
                InputFormat::Fixed(Arc::new(format.with_kinds(common.kinds())))
            }
        },
        formats: Arc::clone(&common.formats),
        // An envelope ends in a line feed.
        envelope: if common.null { EnvelopeChoice::None } else { common.envelope },
        separator: common.separator(),
        kinds: common.kinds(),
        keep_going: common.keep_going,
        seen: Vec::new(),
        stores: Vec::new(),
    };
    plan.policy.records = common.filters.records();
    plan.policy.requests = common.filters.requests();
    plan.policy.urls = common.filters.urls(&plan.normalizer)?;
    plan.policy.key = common.key;
    plan.policy.routes = common.routes.read()?;
    plan.policy.max_rejected = common.filters.max_rejected;
    plan.output.secrets = if common.redact { Secrets::Masked } else { Secrets::Shown };
    plan.limits.threads = common.threads();
    plan.limits.most_workers = common.most_workers();
    plan.limits.max_url = common.max_url;
    plan.limits.max_record = common.max_record;
    Ok(plan)
}
