"""New facts of the logs: known ones stay out, each goes where it belongs, and what one refutes is asked about."""

from markdown_trees import MEMORY, NOW, look, memory_file
from mem0_dream.pipeline.plan import Append

LOG = f"{MEMORY}/logs/2026/11/2026-11-20.md"
UV = "Installs of Python packages run with `uv` in this project."
DECIDED = "decided to always use `uv` for package installs because pip was slow"
CHECKED = "- The team agreed that releases must pass `make check` first\n"
MISO = "The cat is called Miso."
ALWAYS = "Always deploy on Fridays from the main branch."
NEVER = ALWAYS.replace("Always", "Never")


def test_facts_that_are_known_are_not_gathered_again(project):
    project.write({LOG: f"- {DECIDED}\n"}, uv=memory_file(f"{DECIDED.capitalize()}.", name="uv"))
    assert not any(isinstance(action, Append) for action in project.plan().actions)


def test_new_facts_go_into_the_file_they_belong_to(project):
    project.write(
        {LOG: f"- {DECIDED}\n{CHECKED}"},
        uv=memory_file(UV, name="installs with uv"),
        other=memory_file(MISO, name="cat"),
    ).apply()
    assert project.text("uv").endswith(f"\n- {DECIDED}\n")
    assert project.text("from_daily_logs").count("\n- ") == 1
    assert project.plan().actions == ()
    later = CHECKED.replace("`make check`", "the smoke tests of `shop`").replace("releases", "deploys")
    project.write({LOG.replace("20.md", "21.md"): later}).apply()  # joins the earlier one
    assert project.text("from_daily_logs").count("\n- ") == 2


def test_new_facts_go_into_the_section_of_a_list_they_belong_to(project):
    listed = (
        "# Tools\r\n\r\n## Python installs\r\n\r\n* Installs of Python packages run with `uv`\r\n* CI caches them\r\n\r\n"
        "## Reviews\r\n\r\n* Two people read every change\r\n* Nobody merges alone\r\n"
    )
    told = DECIDED.replace("package", "Python package")
    project.write({LOG: f"- {told}\n"}, tools=listed).apply()
    assert project.text("tools") == listed.replace("them\r\n", f"them\r\n* {told}\r\n")
    assert "from_daily_logs" not in project.names()
    assert project.plan().actions == ()
    assert project.undone()


def test_a_fact_of_a_log_that_a_memory_denies_is_asked_and_not_filed(project):
    said, never = (text.replace("branch", "branch of `shop`") for text in (ALWAYS, NEVER))
    project.write({LOG: f"- {never}\n"}, a=memory_file(f"{said} Ines helps."))
    with project.open() as session:
        plan = look(session).plan
        (conflict,) = plan.conflicts
        assert not any("daily_logs" in action.survivor for action in plan.rewrites)
        session.apply(plan, now=NOW, choices={conflict.id: "b"}, within_budget=False)
    assert project.text("a").endswith(f"---\n\n{never} Ines helps.\n")
    assert (project.root / LOG).read_text() == f"- {never}\n"


def test_unattended_a_rule_goes_into_no_file_of_another_subject(project):
    project.write({LOG: f"- {DECIDED}\n"}, uv=memory_file(UV, name="installs with uv"))
    appended = [a.survivor for a in project.plan(unattended=True).rewrites if isinstance(a, Append)]
    assert appended == [f"{MEMORY}/from_daily_logs.md#whole-file"]
