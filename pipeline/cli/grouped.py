"""`--help` in groups: which memories, what to do, how to judge, output."""

from __future__ import annotations

import click

GROUPS = {
    "Which memories": (
        "config", "store_kind", "root", "memory_dirs", "graph_file", "mcp", "core", "host", "org", "project",
        "url", "user_id", "agent_id", "run_id", "app_id", "all_scopes", "state_dir",
    ),
    "What to do": (
        "auto", "dry_run", "review", "retire", "merge_only", "forget_only", "hygiene", "index_only", "dates",
        "supersede", "relate", "repair", "repair_relations", "health", "if_due", "wait", "max_delete",
        "recall_check",
    ),
    "How to judge": ("now", "scorer", "encoder", "second_opinion", "assume_unread", "transcripts"),
    "Output": (
        "explain", "as_json", "webhook", "webhook_texts", "metrics", "log_json", "verbose", "color",
        "version", "help",
    ),
}  # fmt: skip
"""Options of a pass, by their names in the code; a test holds that each stands in one group."""


class GroupedCommand(click.Command):
    """A command that shows its options in groups."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options."""
        write_groups(self, ctx, formatter)


def name_of(option: click.Option) -> str:
    """The name by which an option stands in a group; click's own one for help has another each version."""
    return "help" if "--help" in option.opts else str(option.name)


def write_groups(command: click.Command, ctx: click.Context, formatter: click.HelpFormatter) -> None:
    """Write the options of a command in their groups; one that stands in none comes last."""
    options = [param for param in command.get_params(ctx) if isinstance(param, click.Option)]
    records = {name_of(option): option.get_help_record(ctx) for option in options}
    shown = {name: record for name, record in records.items() if record is not None}
    known = {name for names in GROUPS.values() for name in names}
    groups = {**GROUPS, "Other options": tuple(name for name in shown if name not in known)}
    for title, names in groups.items():
        rows = [shown[name] for name in names if name in shown]
        if rows:
            with formatter.section(title):
                formatter.write_dl(rows)
