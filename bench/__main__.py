"""`python -m bench COMMAND`: every table of the docs, a command each."""

from __future__ import annotations

import argparse

from bench import ablation, compressors, prose, roundtrip, vault, waiting
from bench import relevance as consulted
from bench import scale as scaled
from bench import speed as speed_runs
from bench import sweep as sweeps
from bench.policies import POLICIES, REFERENCES
from bench.replay import run, save
from bench.tables import losses, quality_tables
from bench.traces import sets
from jettison.vault import Detector

QUICK = 12
"""Trajectories a set with --quick."""


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    commands = parser.add_subparsers(dest="command")
    for name, text, fractions in (
        ("quality", "replay recorded trajectories: what was kept of what was needed, and the price", "0.5,0.25,0.1"),
        ("sweep", "the crash run: every step through the library; valid, in budget, or a named error", "0.5,0.25"),
        ("all", "quality at 25 %% and speed", "0.25"),
    ):
        command = commands.add_parser(name, help=text)
        command.add_argument("--sets", default="", help="comma-separated; all recorded sets if not given")
        command.add_argument("--fractions", default=fractions, help="of the body, comma-separated (%(default)s)")
        command.add_argument("--limit", type=int, help="at most so many trajectories a set")
        command.add_argument("--jobs", type=int, default=2)
        if name == "sweep":
            command.add_argument("--profile", default="safe", choices=("safe", "economy"))
        else:
            command.add_argument("--policies", default=",".join(POLICIES), help="comma-separated (%(default)s)")
            command.add_argument(
                "--losses", type=int, default=0, help="also list so many silent losses of each jettison"
            )
        if name == "all":
            command.add_argument("--quick", action="store_true", help=f"{QUICK} trajectories a set, fewer repetitions")
    command = commands.add_parser("speed", help="ratios against json.dumps and counting, inside one run")
    command.add_argument("--quick", action="store_true", help="without 50,000 messages, fewer repetitions")
    command = commands.add_parser("compressors", help="each content type in times of counting its tokens, and growth")
    command.add_argument("--quick", action="store_true", help="one run each, without growth")
    command = commands.add_parser("roundtrip", help="every stub of every replay against its original, byte for byte")
    command.add_argument("--sets", default="", help="comma-separated; all recorded sets if not given")
    command.add_argument("--fraction", type=float, default=0.25, help="of the body (%(default)s)")
    command.add_argument("--limit", type=int, help="at most so many trajectories a set")
    command = commands.add_parser("prose", help="what is kept of things said in prose, by relevance setting")
    command.add_argument("--set", default="prose", choices=("prose", "cross"), help="cross: said in the other language")
    command = commands.add_parser("relevance", help="formula, rules, embeddings and an oracle judge on recorded sets")
    command.add_argument("--sets", default="", help="comma-separated; all recorded sets if not given")
    command.add_argument("--fractions", default="0.25,0.1", help="of the body, comma-separated (%(default)s)")
    command.add_argument("--limit", type=int, help="at most so many trajectories a set")
    command.add_argument("--jobs", type=int, default=2)
    commands.add_parser("waiting", help="what embeddings and a judge that hangs add to one call")
    command = commands.add_parser("vault", help="secret detection: recall, false alarms, time, beside other rule sets")
    command.add_argument("--quick", action="store_true", help="one run each")
    command.add_argument("--missed", metavar="PART", help="list what went wrong in a part: tune or holdout")
    command = commands.add_parser("scale", help="`jettison replay` on processes and Ray: runs a second, memory, kills")
    command.add_argument("--parts", default="", help=f"comma-separated, of {', '.join(scaled.PARTS)}; all if not given")
    command.add_argument("--limit", type=int, help="at most so many recorded runs a set")
    command.add_argument("--sizes", default="1000,10000,50000", help="runs in the files of memory (%(default)s)")
    _ablation_options(commands.add_parser("ablation", help="what each part is worth: the replay without it"))
    return parser


def _ablation_options(command: argparse.ArgumentParser) -> None:
    command.add_argument("--sets", default="", help="comma-separated; all recorded sets if not given")
    command.add_argument("--fraction", type=float, default=0.25, help="of the body (%(default)s)")
    command.add_argument("--limit", type=int, help="at most so many trajectories a set")
    command.add_argument("--jobs", type=int, default=2)
    command.add_argument("--without", default="", help="comma-separated names of parts; all if not given")


def _names(given: str, known: list[str]) -> list[str]:
    names = [name for name in given.split(",") if name] or known
    unknown = [name for name in names if name not in known]
    if unknown:
        raise SystemExit(f"unknown: {', '.join(unknown)}; there are {', '.join(known)}")
    return names


def _quality(options: argparse.Namespace, limit: int | None) -> None:
    policies = _names(options.policies, [*POLICIES, *REFERENCES])
    fractions = [float(part) for part in options.fractions.split(",")]
    results = run(_names(options.sets, sets()), policies, fractions, limit, options.jobs)
    save("quality", results)
    print(quality_tables(results))
    for policy in policies:
        if options.losses and policy.startswith("jettison"):
            print(f"\nSilent losses of {policy}:\n")
            print(*(f"- {line}" for line in losses(results, policy, options.losses)), sep="\n")


def _sweep(options: argparse.Namespace) -> int:
    fractions = [float(part) for part in options.fractions.split(",")]
    names = _names(options.sets, sets())
    results = sweeps.sweep(names, fractions, options.limit, options.jobs, options.profile)
    print(sweeps.report(results))
    return 1 if any(result.faults for result in results) else 0


def _ablation(options: argparse.Namespace) -> None:
    known = [variant.name for variant in ablation.VARIANTS]
    wanted = {known[0], *_names(options.without, known)}
    results = ablation.ablate(
        _names(options.sets, sets()), options.fraction, options.limit, options.jobs, sorted(wanted)
    )
    print(
        f"strict support · completeness · cost at {options.fraction:.0%} of the body; below the first row: the change\n"
    )
    print(ablation.report(results))


def main() -> int:
    """Run a command; 0 when it went well, 1 when the sweep found a fault."""
    parser = _parser()
    options = parser.parse_args()
    if options.command is None:
        parser.print_help()
        return 0
    if options.command == "sweep":
        return _sweep(options)
    if options.command == "roundtrip":
        found = roundtrip.roundtrip(_names(options.sets, sets()), options.fraction, options.limit)
        print(roundtrip.table(found))
        return 1 if any(one["wrong"] or one["lost"] for one in found.values()) else 0
    if options.command == "ablation":
        _ablation(options)
        return 0
    if options.command == "prose":
        print(prose.report(prose.run(options.set)))
        return 0
    if options.command == "scale":
        wanted = _names(options.parts, list(scaled.PARTS))
        print(scaled.run(wanted, options.limit, [int(size) for size in options.sizes.split(",")]))
        return 0
    if options.command == "waiting":
        print(waiting.table())
        return 0
    if options.command == "relevance":
        fractions = [float(part) for part in options.fractions.split(",")]
        names = _names(options.sets, sets())
        print(consulted.report(consulted.ablate(names, fractions, options.limit, options.jobs)))
        return 0
    quick = getattr(options, "quick", False)
    if options.command == "compressors":
        print(compressors.table(compressors.speed(1 if quick else compressors.REPEATS), "× counting"))
        if not quick:
            print("\n" + compressors.table(compressors.growth(), "100 KB → 1 MB, 1 = linear"))
        return 0
    if options.command == "vault":
        print(*vault.missed(Detector().find, options.missed), sep="\n") if options.missed else print(vault.table(quick))
        return 0
    if options.command in ("quality", "all"):
        _quality(options, options.limit or (QUICK if quick else None))
    if options.command in ("speed", "all"):
        print("\n### Speed\n")
        print(speed_runs.table(speed_runs.speed(quick)))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
