/** Shows a page of the documents: drawn and in a pager on a terminal, as it is in a pipe. */
import { spawn } from "node:child_process";
import { styleText } from "node:util";
import type { Io } from "./command.ts";
import { terminalWidth } from "../process/table.ts";
import { isDumb, markOwn } from "../process/terminal-text.ts";
import { toTerminalPage } from "./terminal-page.ts";

/** Longer lines are hard to read. */
const maxWidth = 100;

/** `before` is shown above the page. Neither may have text from elsewhere: it goes to the terminal as it is. */
export async function showPage(markdown: string, before: string, io: Io): Promise<void> {
  const gap = before === "" ? "" : "\n";
  if (!io.terminal.out || isDumb(io.env)) return io.out(`${before}${gap}${markdown}`);
  const text = `${before}${gap}${await drawPage(markdown, io)}`;
  if (!(io.terminal.input && (await runPager(text, io)))) io.out(markOwn(text));
}

async function drawPage(markdown: string, io: Io): Promise<string> {
  const { Markdown } = await import("@tau/tui");
  const width = Math.min(terminalWidth(io), maxWidth);
  const drawn = new Markdown(toTerminalPage(markdown), 0, 0, createTheme(io.colour), undefined, { renderLatex: false });
  return `${drawn
    .render(width)
    .map((line) => line.trimEnd())
    .join("\n")}\n`;
}

type Format = Parameters<typeof styleText>[0];

function createTheme(hasColour: boolean) {
  const style = (format: Format) => (text: string) =>
    hasColour ? styleText(format, text, { validateStream: false }) : text;
  const plain = (text: string) => text;
  return {
    heading: style(["bold", "cyan"]),
    link: style("underline"),
    linkUrl: style("dim"),
    code: style("green"),
    codeBlock: style("green"),
    codeBlockBorder: style("dim"),
    quote: plain,
    quoteBorder: style("dim"),
    hr: style("dim"),
    listBullet: style("cyan"),
    bold: style("bold"),
    italic: style("italic"),
    strikethrough: style("strikethrough"),
    underline: style("underline"),
  };
}

/** A shell reports this for a program that does not exist. */
const notFound = 127;

/** Runs the user's pager, else `less`. Resolves to false if it could not be started. */
function runPager(text: string, { env, cwd, takeSignals }: Io): Promise<boolean> {
  const command = env["PAGER"] || "less";
  // A text that fits on the screen is only printed; colors are shown, and the text stays on the screen afterwards.
  const pagerEnv = { LESS: "FRX", ...env };
  // Ctrl-C belongs to the pager.
  const returnSignals = takeSignals?.(() => {});
  return new Promise<boolean>((resolve) => {
    const child = spawn("sh", ["-c", command], { cwd, env: pagerEnv, stdio: ["pipe", "inherit", "ignore"] });
    child.once("error", () => resolve(false));
    child.once("exit", (code) => resolve(code !== notFound));
    // Somebody who has read enough closes the pager before the end of the text.
    child.stdin.on("error", () => {});
    child.stdin.end(text);
  }).finally(() => returnSignals?.());
}
