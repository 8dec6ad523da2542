"""The commands and their options; the work is in `work`."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib import metadata
from typing import Annotated

import typer

from jettison.cli import scanning, serving, tuning, work
from jettison.cli.budget import parse_budget
from jettison.cli.demo import show
from jettison.cli.output import complain, in_options
from jettison.errors import ArchiveError, CannotFit, ConfigError, InvalidInput, JettisonError
from jettison.recall import LIMIT
from jettison.replay import WIRES, read

__all__ = ["app", "run"]

OK, FOUND, CANNOT_FIT, INVALID, USAGE, INTERNAL, INTERRUPTED = 0, 1, 2, 3, 64, 70, 130

# typer carries its own click: the classes are reached through what it exports.
_UsageError: type[Exception] = typer.BadParameter.__bases__[0]

app = typer.Typer(
    name="jettison",
    help="Decides what an LLM agent may forget before its next call, and proves that what must be kept is kept.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        print(f"jettison {metadata.version('jettison')}")
        raise typer.Exit


@app.callback()
def _main(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and stop.")
    ] = False,
) -> None:
    pass


@app.command(short_help="Fit one history into a budget.")
def fit(
    file: Annotated[str, typer.Argument(metavar="FILE", help="The history; - is standard input.")],
    budget: Annotated[
        str, typer.Option("--budget", "-b", metavar="TOKENS", help="8000, 8k, 200k, 1m, or 25% of the request.")
    ],
    wire: Annotated[
        str | None, typer.Option(metavar="NAME", help=f"{', '.join(WIRES)}. Told from the content if not given.")
    ] = None,
    model: Annotated[str | None, typer.Option(metavar="NAME", help="Counts tokens as this model does.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", metavar="FILE", help="Write what fits here; - is standard output."),
    ] = None,
    explain: Annotated[
        str | None,
        typer.Option(metavar="ITEM", help="Why one item was kept or not: its id, 12 (a message), a piece of its text."),
    ] = None,
    row: Annotated[int | None, typer.Option(metavar="N", help="Which history of a file with several, from 1.")] = None,
    repair: Annotated[bool, typer.Option("--repair", help="Answer dead calls, resolve duplicates.")] = False,
    observe: Annotated[bool, typer.Option("--observe", help="Decide and report, change nothing.")] = False,
    degrade: Annotated[
        bool, typer.Option("--degrade", help="Best effort, losses named; an error only if instructions do not fit.")
    ] = False,
    steps: Annotated[bool, typer.Option("--steps", help="Fit before each call, in one session: as it was lived.")] = (
        False
    ),
) -> int:
    """Fit one history into a budget, and say why each item was kept or not.

    FILE is a list of messages, a whole request body, JSONL trajectories (--row), or a Claude Code session; gzipped
    or not. It is fitted in one call, as a new session would; one that ran all along (--steps) decides earlier and
    keeps to it, so its last call can keep other items. --explain speaks of the same run as the table.
    Exit codes: 0 it fits, 2 it cannot fit, 3 the input is broken, 64 wrong usage.
    """
    wanted = parse_budget(budget)
    job = work.Job(read(file, row=row, wire=wire), wanted, model=model, repair=repair, observe=observe, degrade=degrade)
    fits = work.run(job, work.Show(json=json, output=output, explain=explain, steps=steps))
    return OK if fits else CANNOT_FIT


@app.command(short_help="Fit the bundled example.")
def demo(
    budget: Annotated[str, typer.Option("--budget", "-b", metavar="TOKENS", help="The budget to fit it into.")] = "25%",
) -> int:
    """Fit the bundled history of a support agent into a quarter of its size."""
    return OK if show(parse_budget(budget)) else CANNOT_FIT


@app.command(name="replay", short_help="Measure policies on recorded runs.")
def replay_runs(
    paths: Annotated[list[str], typer.Argument(metavar="PATH...", help="Files, folders, globs; - is standard input.")],
    budget: Annotated[
        str, typer.Option("--budget", "-b", metavar="SHARE", help="Of the body: 25%, or 50%,25%,10%; or tokens: 8k.")
    ] = "25%",
    policy: Annotated[
        list[str] | None, typer.Option(metavar="FILE", help="A policy file; can be given again to compare several.")
    ] = None,
    baselines: Annotated[bool, typer.Option("--baselines", help="Bounds and baselines beside it.")] = False,
    peers: Annotated[bool, typer.Option("--peers", help="Other libraries beside it (a checkout only).")] = False,
    html: Annotated[str | None, typer.Option(metavar="OUT", help="Write a page that works offline.")] = None,
    json: Annotated[str | None, typer.Option("--json", metavar="OUT", help="Write all figures; - is output.")] = None,
    losses: Annotated[int, typer.Option(metavar="N", min=0, help="Print N calls that missed something, and why.")] = 0,
    detail: Annotated[int, typer.Option(metavar="N", min=0, help="Runs drawn on the page: those that lost most.")] = 8,
    jobs: Annotated[int, typer.Option("--jobs", "-j", metavar="N", min=1, help="Processes.")] = os.cpu_count() or 1,
    limit: Annotated[int | None, typer.Option(metavar="N", min=1, help="At most so many runs, the first ones.")] = None,
    wire: Annotated[
        str | None, typer.Option(metavar="NAME", help=f"{', '.join(WIRES)}. Told from the content if not given.")
    ] = None,
    parts: Annotated[
        str | None, typer.Option(metavar="DIR|URL", help="Keep results here as Parquet; a run goes on from them.")
    ] = None,
    engine: Annotated[str, typer.Option(metavar="local|ray", help="Where it runs: RAY_ADDRESS names a cluster.")] = (
        "local"
    ),
) -> int:
    """Replay recorded runs call by call under a budget: what the next call needed, what was kept, what it cost.

    Reads chat JSONL, request logs (OpenAI, Anthropic, LiteLLM), Claude Code, Codex, SWE-agent, tau-bench, OpenAI
    Agents, LangChain, OpenTelemetry, Langfuse and Parquet; .gz and .zst. What cannot be read is counted and skipped.
    Exit codes: 0 measured, 3 nothing could be read, 64 wrong usage, 70 an extra is missing (jettison[replay]).
    """
    from jettison.cli import replaying

    setup = replaying.setup_of(budget, policy or [], baselines, peers)
    wish = replaying.Wish(
        *(tuple(paths), setup, wire, limit, jobs, engine, parts, html, json),
        losses=losses,
        detail=detail,
        peers=peers,
    )
    try:
        replaying.run(wish)
    except ModuleNotFoundError as missing:
        if "pip install 'jettison[" not in str(missing):
            raise
        complain(str(missing))
        return INTERNAL
    return OK


@app.command(name="tune", short_help="Fit the weights on recorded runs.")
def tune_weights(
    context: typer.Context,
    paths: Annotated[list[str], typer.Argument(metavar="PATH...", help="Recorded runs, as `fit` reads them.")],
    by: Annotated[str, typer.Option(metavar="task|file", help="What is held out together when the gain is judged.")] = (
        "task"
    ),
    folds: Annotated[int, typer.Option(metavar="N", help="Parts, each judged by weights that did not see it.")] = 5,
    l2: Annotated[float, typer.Option("--l2", metavar="X", help="Pull towards the weights in use.")] = 100.0,
    json: Annotated[str | None, typer.Option("--json", metavar="OUT", help="Write weights and evidence here.")] = None,
    toml: Annotated[
        str | None, typer.Option("--toml", metavar="OUT", help="The same as commented TOML: no policy file.")
    ] = None,
    policy: Annotated[
        str | None, typer.Option(metavar="OUT", help="Choose the settings of a policy instead, and write them here.")
    ] = None,
    budget: Annotated[str, typer.Option("--budget", "-b", metavar="SHARE", help="Of --policy: 25%, or 8k.")] = "25%",
    aim: Annotated[str, typer.Option(metavar="support|cost", help="Of --policy: what is to get better.")] = "support",
    wide: Annotated[bool, typer.Option("--wide", help="Of --policy: every combination, not one change at a time.")] = (
        False
    ),
    jobs: Annotated[int, typer.Option("--jobs", "-j", metavar="N", min=1, help="Of --policy: processes.")] = (
        os.cpu_count() or 1
    ),
) -> int:
    """Fit the weights by which values are kept on recorded runs, and say whether they beat the ones in use: a check of
    those in use, which no policy can set.

    With --policy: replay the runs under several settings, choose, and write a file for Policy.from_file; the gain is
    judged on tasks that were not chosen on, and settings change only where its interval shows one.

    Changes nothing by itself. The weights need the extra `jettison[tune]`. Exit codes: 0 fitted, whatever the
    verdict, 3 the input is broken or too little, 64 wrong usage, 70 without the extra.
    """
    tuning.check(context, policy is not None, [policy, json, toml])
    if policy is not None:
        tuning.settings(paths, budget, aim=aim, by=by, folds=folds, jobs=jobs, wide=wide, out=policy)
        return OK
    try:
        tuning.run(paths, by=by, folds=folds, l2=l2, json=json, toml=toml)
    except ModuleNotFoundError as missing:
        if missing.name != "numpy":
            raise
        complain(str(missing))
        return INTERNAL
    return OK


@app.command(name="mcp", short_help="Offer an archive to an agent over MCP.")
def serve_mcp(
    archive: Annotated[
        str,
        typer.Option(
            metavar="FILE|URL", envvar="JETTISON_ARCHIVE", help="An SQLite file, or postgresql://user@host/database."
        ),
    ],
    conversation: Annotated[
        str | None, typer.Option(metavar="KEY", help="Only this conversation and those of its sub-agents.")
    ] = None,
    limit: Annotated[int, typer.Option(metavar="N", help="Characters of an answer at most.")] = LIMIT,
    create: Annotated[bool, typer.Option("--create", help="Make an empty file where there is none.")] = False,
) -> int:
    """Offer recall and search over an archive on standard input and output, as the MCP tool recall_context.

    Needs the extra `jettison[mcp]`. A password belongs into JETTISON_ARCHIVE or ~/.pgpass, not into the arguments.
    Exit codes: 0 the client is done, 3 the archive cannot be used, 64 wrong usage, 70 without the extra.
    """
    try:
        serving.run(archive, conversation, limit, create=create)
    except ModuleNotFoundError as missing:
        if missing.name != "mcp":
            raise
        complain(str(missing))
        return INTERNAL
    return OK


@app.command(short_help="Find secrets in recorded histories.")
def scan(
    paths: Annotated[list[str], typer.Argument(metavar="PATH...", help="Files, or folders with all below them.")],
    own: Annotated[bool, typer.Option("--own-rules", help="Without the maintained rule set.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print the places as JSON.")] = False,
) -> int:
    """Find secrets in recorded histories and other text: how many, of which kind, where. Values are never printed.

    JSON and JSONL (gzipped or not) are read value by value, other text as it is. Exit codes: 0 none found, 1 some
    found, 3 a file cannot be read, 64 wrong usage.
    """
    return FOUND if scanning.run(paths, own=own, as_json=json) else OK


def run(argv: Sequence[str] | None = None) -> int:
    """Run the command line; every error becomes a line of text and an exit code."""
    try:
        return int(app(list(sys.argv[1:] if argv is None else argv), prog_name="jettison", standalone_mode=False) or 0)
    except _UsageError as error:
        return _usage(error)
    except ConfigError as error:
        complain(str(error))
        return USAGE
    except ArchiveError as error:
        complain(str(error))
        return INVALID
    except InvalidInput as error:
        complain(in_options(str(error)))
        return INVALID
    except JettisonError as error:
        complain(in_options(f"cannot fit: {error}" if isinstance(error, CannotFit) else str(error)))
        return CANNOT_FIT
    except BrokenPipeError:
        with suppress(OSError):  # what is still buffered has no reader either
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return OK
    except (KeyboardInterrupt, typer.Abort):
        return INTERRUPTED
    except Exception as error:
        # The last resort of a command line: no traceback unless it is asked for.
        if os.environ.get("JETTISON_DEBUG"):
            raise
        complain(f"internal error, please report it: {type(error).__name__}: {error} (JETTISON_DEBUG=1 shows where)")
        return INTERNAL


def _usage(error: Exception) -> int:
    message = str(getattr(error, "format_message", lambda: error)())
    context = getattr(error, "ctx", None)
    if not message.strip() or type(error).__name__ == "NoArgsIsHelpError":
        print(context.get_help() if context else message, file=sys.stderr)
        return USAGE
    path = context.command_path if context else "jettison"
    complain(f"{message}\nTry: {path} --help")
    return USAGE
