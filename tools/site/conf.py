"""Settings of Sphinx for hopcast's site: its pages are those of the repository, unchanged, in the order of `navigation.toml`."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from docutils import nodes
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util.nodes import make_refnode

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
REPOSITORY = "https://github.com/hopcast/hopcast"
VERSION = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))["workspace"]["package"]["version"]
NAVIGATION = tomllib.loads((HERE / "navigation.toml").read_text(encoding="utf-8"))

project = "hopcast"
author = "The hopcast contributors"
project_copyright = author
version = release = VERSION
root_doc = "docs/index"
# Other Markdown of the repository is about the packaging and the papers, and linked in the repository.
include_patterns = ["docs/**", "*.md", "traces/README.md", "viewer/README.md", "benches/peers/README.md"]
exclude_patterns = [
    ".*",
    "target",
    "out",
    "dist",
    "**/node_modules",
    "crates",
    "fuzz",
    "python",
    "papers",
    "tests",
    "tools",
]
extensions = ["myst_parser", "sphinx.ext.autodoc"]

# Anchors of headings as GitHub makes them.
myst_heading_anchors = 4
highlight_language = "text"
pygments_dark_style = "monokai"
# Docstrings have code between single backquotes.
default_role = "code"
autodoc_default_options = {"members": True, "member-order": "bysource", "undoc-members": True}
autodoc_typehints = "signature"
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 88
toc_object_entries_show_parents = "hide"

html_theme = "furo"
html_title = "hopcast"
html_copy_source = False
html_show_sphinx = False
# Excerpts are fetched, which browsers forbid to pages that no server gives.
html_show_search_summary = False
html_static_path = ["static"]
html_css_files = ["site.css"]
html_theme_options = {"source_repository": REPOSITORY, "source_branch": "main", "source_directory": ""}


def link_and_order(app: Sphinx, docname: str, source: list[str]) -> None:
    """Link files and folders that the site does not have to the repository, and add the page's part of the navigation."""
    folder = (ROOT / docname).parent

    def linked(link: re.Match[str]) -> str:
        target = (folder / link[1]).resolve()
        if re.match(r"[a-z]+:", link[1]) or not target.is_relative_to(ROOT) or not target.exists():
            return link[0]
        path = target.relative_to(ROOT)
        on_site = path.with_suffix("").as_posix() in app.project.docnames or path.suffix in (".svg", ".png")
        return (
            link[0]
            if on_site
            else f"]({REPOSITORY}/{'tree' if target.is_dir() else 'blob'}/main/{path.as_posix()}{link[2]})"
        )

    text = re.sub(r"\]\(([^)#\s]+)(#[^)\s]*)?\)", lambda link: linked(link), source[0])
    for part in NAVIGATION.get(docname, []):
        caption = f":caption: {part['title']}\n" if "title" in part else ""
        pages = "\n".join(re.sub(r"^(.*<)?", r"\1/", page, count=1) for page in part["pages"])
        text += f"\n\n```{{toctree}}\n:hidden:\n{caption}\n{pages}\n```\n"
    source[0] = text


def exact(app: Sphinx, doctree: nodes.document) -> None:
    """Make types in signatures mean exactly the object of this name: by default, `bytes` would be any attribute called so."""
    for reference in doctree.findall(pending_xref):
        reference.attributes.pop("refspecific", None)


def only_class(
    app: Sphinx, env: BuildEnvironment, reference: pending_xref, content: nodes.Element
) -> nodes.reference | None:
    """Link a type of another module, if one class alone has this name."""
    domain = env.domains.python_domain
    homes = [
        name
        for name, entry in domain.objects.items()
        if entry.objtype == "class" and name.endswith(f".{reference['reftarget']}")
    ]
    if reference.get("refdomain") != "py" or len(homes) != 1:
        return None
    entry = domain.objects[homes[0]]
    return make_refnode(app.builder, reference["refdoc"], entry.docname, entry.node_id, content, homes[0])


def without_aliases(app: Sphinx, what: str, name: str, item: object, options: object, lines: list[str]) -> None:
    """Remove what Python says of a field of a named tuple that has no docstring."""
    if lines and lines[0].startswith("Alias for field number"):
        lines.clear()


def setup(app: Sphinx) -> None:
    """Called by Sphinx."""
    app.connect("source-read", link_and_order)
    app.connect("autodoc-process-docstring", without_aliases)
    app.connect("doctree-read", exact)
    app.connect("missing-reference", only_class)
