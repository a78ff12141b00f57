/** The names of languages in the protocol, by the end of a file's name. */
const languageIds: Readonly<Record<string, string>> = {
  ".astro": "astro",
  ".bash": "shellscript",
  ".bib": "bibtex",
  ".c": "c",
  ".cc": "cpp",
  ".cjs": "javascript",
  ".cpp": "cpp",
  ".cs": "csharp",
  ".css": "css",
  ".cts": "typescript",
  ".cxx": "cpp",
  ".dockerfile": "dockerfile",
  ".erl": "erlang",
  ".ex": "elixir",
  ".exs": "elixir",
  ".fs": "fsharp",
  ".gql": "graphql",
  ".h": "c",
  ".hh": "cpp",
  ".hpp": "cpp",
  ".hs": "haskell",
  ".htm": "html",
  ".jl": "julia",
  ".js": "javascript",
  ".jsx": "javascriptreact",
  ".kt": "kotlin",
  ".kts": "kotlin",
  ".m": "objective-c",
  ".markdown": "markdown",
  ".md": "markdown",
  ".mjs": "javascript",
  ".ml": "ocaml",
  ".mli": "ocaml.interface",
  ".mm": "objective-cpp",
  ".mts": "typescript",
  ".pl": "perl",
  ".pm": "perl",
  ".py": "python",
  ".pyi": "python",
  ".r": "r",
  ".rb": "ruby",
  ".rs": "rust",
  ".sh": "shellscript",
  ".tex": "latex",
  ".tf": "terraform",
  ".tfvars": "terraform-vars",
  ".ts": "typescript",
  ".tsx": "typescriptreact",
  ".yml": "yaml",
  ".zsh": "shellscript",
};

/** The language of a path: a known one, or the end of its name. */
export function getLanguageId(path: string): string {
  const name = path.slice(path.lastIndexOf("/") + 1).toLowerCase();
  if (name.startsWith("dockerfile")) return "dockerfile";
  const dot = name.lastIndexOf(".");
  const end = dot < 0 ? "" : name.slice(dot);
  return languageIds[end] ?? (end === "" ? "plaintext" : end.slice(1));
}
