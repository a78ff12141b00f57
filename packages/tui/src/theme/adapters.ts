/** Themes of components, made from a `Theme`. */
import type { EditorTheme } from "../components/editor.ts";
import type { MarkdownTheme } from "../components/markdown.ts";
import type { SelectListTheme } from "../components/select-list.ts";
import type { Theme } from "./theme.ts";
import type { ThemeColor } from "./tokens.ts";

type Styles = Pick<Theme, "fg" | "bold" | "italic" | "underline" | "strikethrough">;

type MarkdownExtras = Pick<MarkdownTheme, "highlightCode" | "highlightCodeLine" | "codeBlockIndent" | "mermaid">;

type Style = (text: string) => string;

const use =
  (theme: Styles, color: ThemeColor): Style =>
  (text) =>
    theme.fg(color, text);

/** `extras` are passed on to the component: how it highlights and indents code, and draws diagrams. */
export function getMarkdownTheme(theme: Styles, extras: MarkdownExtras = {}): MarkdownTheme {
  return {
    heading: use(theme, "mdHeading"),
    link: use(theme, "mdLink"),
    linkUrl: use(theme, "mdLinkUrl"),
    code: use(theme, "mdCode"),
    codeBlock: use(theme, "mdCodeBlock"),
    codeBlockBorder: use(theme, "mdCodeBlockBorder"),
    quote: use(theme, "mdQuote"),
    quoteBorder: use(theme, "mdQuoteBorder"),
    hr: use(theme, "mdHr"),
    listBullet: use(theme, "mdListBullet"),
    bold: (text: string) => theme.bold(text),
    italic: (text: string) => theme.italic(text),
    strikethrough: (text: string) => theme.strikethrough(text),
    underline: (text: string) => theme.underline(text),
    ...extras,
  };
}

export function getSelectListTheme(theme: Styles): SelectListTheme {
  return {
    selectedPrefix: use(theme, "accent"),
    selectedText: use(theme, "accent"),
    description: use(theme, "muted"),
    scrollInfo: use(theme, "muted"),
    noMatch: use(theme, "muted"),
    ellipsis: "…",
  };
}

export function getSettingsListTheme(theme: Styles) {
  return {
    label: (text: string, selected: boolean) => (selected ? theme.fg("accent", text) : text),
    value: (text: string, selected: boolean) => theme.fg(selected ? "accent" : "muted", text),
    description: use(theme, "dim"),
    cursor: theme.fg("accent", "→ "),
    hint: use(theme, "dim"),
  };
}

export function getEditorTheme(theme: Styles): EditorTheme {
  return { borderColor: use(theme, "borderMuted"), selectList: getSelectListTheme(theme) };
}
