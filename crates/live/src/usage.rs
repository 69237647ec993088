//! Mistakes on the command line in hopcast's words: one line with the argument, what is wrong and what would be right. If
//! the line can't say that, another one names the help. The commands that Python reads say the same
//! (`python/hopcast/cli/usage.py`).

use std::error::Error as _;
use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, Error, ErrorKind};
use clap::{Arg, Command};

/// Reads numbers below zero as values of their options, so that the option can say which numbers it takes.
pub(crate) fn with_negative_numbers(command: Command) -> Command {
    let read = |argument: Arg| {
        if argument.get_action().takes_values() { argument.allow_negative_numbers(true) } else { argument }
    };
    command.mut_args(read).mut_subcommands(with_negative_numbers)
}

/// What is wrong with `arguments`, the name of the program first; `None` if clap has printed what was asked for, such as
/// help.
pub(crate) fn describe(error: &Error, command: &Command, arguments: &[OsString]) -> Option<String> {
    let wrong = mistake(error)?;
    let says_what_is_right = matches!(
        error.kind(),
        ErrorKind::InvalidValue | ErrorKind::ValueValidation | ErrorKind::ArgumentConflict | ErrorKind::InvalidUtf8
    );
    Some(if says_what_is_right {
        wrong
    } else {
        format!("{wrong}\n`{} --help` shows what it takes", path(command, arguments))
    })
}

/// `message` with line breaks and other control characters of the `arguments` escaped, so that a message about a name has one
/// line.
pub(crate) fn printable(message: String, arguments: &[OsString]) -> String {
    let names = arguments.iter().filter_map(|argument| argument.to_str());
    let names = names.flat_map(|name| [Some(name), name.split_once('=').map(|(_, value)| value)]).flatten();
    names.filter(|name| name.contains(char::is_control)).fold(message, |message, name| {
        let shown = name.chars().map(|c| if c.is_control() { c.escape_default().to_string() } else { c.into() });
        message.replace(name, &shown.collect::<String>())
    })
}

fn mistake(error: &Error) -> Option<String> {
    let text = |kind| error.get(kind).map(shown).filter(|text| !text.is_empty());
    let argument = text(ContextKind::InvalidArg).map(|argument| option(&argument));
    let value = text(ContextKind::InvalidValue);
    let prior = text(ContextKind::PriorArg).map(|prior| option(&prior));
    let suggested = |kind| text(kind).map_or_else(String::new, |name| format!("; did you mean {}?", option(&name)));
    let subcommand = || text(ContextKind::InvalidSubcommand);
    let argument = || argument.clone().unwrap_or_else(|| "an argument".into());
    Some(match error.kind() {
        ErrorKind::DisplayHelp
        | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
        | ErrorKind::DisplayVersion
        | ErrorKind::Io
        | ErrorKind::Format => return None,
        ErrorKind::UnknownArgument if argument().starts_with('-') => {
            format!("there is no option {}{}", argument(), suggested(ContextKind::SuggestedArg))
        }
        ErrorKind::UnknownArgument => format!("{}: is one argument too many", argument()),
        ErrorKind::InvalidSubcommand => format!(
            "there is no command {}{}",
            subcommand().unwrap_or_default(),
            suggested(ContextKind::SuggestedSubcommand)
        ),
        ErrorKind::MissingSubcommand => {
            format!("a command is missing; expected one of {}", text(ContextKind::ValidSubcommand).unwrap_or_default())
        }
        ErrorKind::InvalidValue => match (value, text(ContextKind::ValidValue)) {
            (Some(value), Some(valid)) => {
                format!("{}: {value} is not one of {valid}{}", argument(), suggested(ContextKind::SuggestedValue))
            }
            (Some(value), None) => format!("{}: {value} is not possible", argument()),
            (None, _) => format!("{}: a value is missing", argument()),
        },
        ErrorKind::ValueValidation => {
            let (value, source) =
                (value.unwrap_or_default(), error.source().map(ToString::to_string).unwrap_or_default());
            match of_a_number(&value, &source) {
                Some(wrong) => format!("{}: {value} {wrong}", argument()),
                None => format!("{} {value}: {source}", argument()),
            }
        }
        ErrorKind::ArgumentConflict => match (prior, subcommand()) {
            (Some(prior), Some(command)) => format!("{prior} and the command {command} exclude each other"),
            (Some(prior), None) if prior == argument() => format!("{}: can be given only once", argument()),
            (Some(prior), None) => format!("{} and {prior} exclude each other", argument()),
            (None, _) => format!("{} excludes all other options", argument()),
        },
        ErrorKind::MissingRequiredArgument => format!("{} is missing", argument()),
        ErrorKind::NoEquals => format!("{}: expected {}=VALUE", argument(), argument()),
        ErrorKind::TooManyValues | ErrorKind::TooFewValues | ErrorKind::WrongNumberOfValues => {
            match text(ContextKind::ExpectedNumValues) {
                Some(expected) => format!("{}: expected {expected} values", argument()),
                None => format!("{}: has too many or too few values", argument()),
            }
        }
        ErrorKind::InvalidUtf8 => "an argument is not UTF-8 text".into(),
        _ => error.render().to_string().trim_start_matches("error: ").trim_end().into(),
    })
}

/// The name of an option without its placeholder for a value: `--seed <SEED>` is `--seed`. Positional arguments lose their
/// brackets.
fn option(name: &str) -> String {
    if name.starts_with('-') {
        name.split([' ', '=']).next().unwrap_or(name).trim_end_matches(['[', ']']).into()
    } else {
        name.trim_start_matches(['<', '[']).trim_end_matches(['>', ']', '.']).into()
    }
}

/// What Rust and clap say of a number, in hopcast's words; `None` if `source` is about something else.
fn of_a_number(value: &str, source: &str) -> Option<String> {
    if let Some((least, most)) = source.split_once(" is not in ").and_then(|(_, range)| range.split_once("..=")) {
        return Some(format!("is not a whole number from {least} to {most}"));
    }
    match source {
        _ if value.parse::<i128>().is_ok_and(i128::is_negative) => Some("is less than 0".into()),
        "invalid digit found in string" | "cannot parse integer from empty string" => {
            Some("is not a whole number".into())
        }
        "number too large to fit in target type" => Some("is too large".into()),
        _ => None,
    }
}

fn shown(value: &ContextValue) -> String {
    match value {
        ContextValue::String(text) => text.clone(),
        ContextValue::Strings(texts) => texts.join(", "),
        ContextValue::Number(number) => number.to_string(),
        ContextValue::StyledStr(text) => text.to_string(),
        _ => String::new(),
    }
}

/// The command that `arguments` name, with its parents: `hopcast probe send`.
fn path(command: &Command, arguments: &[OsString]) -> String {
    let mut path = command.get_name().to_owned();
    let mut current = command;
    for argument in arguments.iter().skip(1) {
        let Some(next) = argument.to_str().and_then(|name| current.find_subcommand(name)) else { break };
        path = format!("{path} {}", next.get_name());
        current = next;
    }
    path
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[derive(Debug, clap::Parser)]
    #[command(name = "hopcast")]
    struct Arguments {
        #[command(subcommand)]
        command: Subcommand,
    }

    #[derive(Debug, clap::Subcommand)]
    enum Subcommand {
        Emulate(Box<crate::emulate::Command>),
        Key(crate::key::command::Command),
        Node(crate::node::Command),
        Probe(crate::probe::Command),
        Stream(crate::stream::Command),
    }

    fn described(line: &str) -> String {
        let command = with_negative_numbers(Arguments::command());
        let arguments: Vec<OsString> = std::iter::once("hopcast").chain(line.split(' ')).map(OsString::from).collect();
        let error = command.clone().try_get_matches_from(&arguments).expect_err(line);
        describe(&error, &command, &arguments).expect(line)
    }

    #[test]
    fn each_mistake_names_the_argument_and_what_is_right() {
        for (line, wanted) in [
            ("emulate s.toml --seed -1", "--seed: -1 is less than 0"),
            ("emulate s.toml --seed many", "--seed: many is not a whole number"),
            ("emulate s.toml --seed", "--seed: a value is missing"),
            ("emulate s.toml --shell n --json", "--shell and --json exclude each other"),
            ("node --interface lo status", "--interface and the command status exclude each other"),
            ("emulate s.toml --seed 1 --seed 2", "--seed: can be given only once"),
            ("probe send --to a --transport ipx", "--transport: ipx is not one of udp, tcp"),
            ("emulate s.toml --metrics 9", "--metrics 9: an address and a port are written like 127.0.0.1:9654"),
            ("probe send --to a --repetitions 0", "--repetitions: 0 is not a whole number from 1 to 10000"),
        ] {
            assert_eq!(described(line), wanted, "{line}");
        }
        for (line, wanted, help) in [
            ("emulate s.toml --sed 1", "there is no option --sed; did you mean --seed?", "emulate"),
            ("emulate s.toml t.toml", "t.toml: is one argument too many", "emulate"),
            ("emulate", "SCENARIO.toml is missing", "emulate"),
            ("emulate s.toml --exec n", "--exec: expected 2 values", "emulate"),
            ("probe sned", "there is no command sned; did you mean send?", "probe"),
            ("node", "--interface is missing", "node"),
            ("key", "FILE is missing", "key"),
        ] {
            assert_eq!(described(line), format!("{wanted}\n`hopcast {help} --help` shows what it takes"), "{line}");
        }
    }

    #[test]
    fn a_name_with_a_line_break_leaves_the_message_one_line() {
        let given = ["hopcast", "emulate", "a\nb.toml", "--out=c\td"].map(OsString::from);
        let message = "a\nb.toml: can't be read; c\td: neither".to_owned();
        assert_eq!(printable(message, &given), "a\\nb.toml: can't be read; c\\td: neither");
    }

    #[test]
    fn help_is_no_mistake() {
        let command = Arguments::command();
        let arguments = ["hopcast", "emulate", "--help"].map(OsString::from);
        let error = command.clone().try_get_matches_from(&arguments).expect_err("help");
        assert_eq!(describe(&error, &command, &arguments), None);
    }
}
