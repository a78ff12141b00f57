/** An answer, while it arrives and afterwards. It stays the same component, because its first lines may be printed already. */
import type { AssistantMessage } from "@tau/ai";
import type { LiveMessage } from "@tau/protocol";
import { emptyAnswerText, getFailureAdvice, isEmptyAnswer } from "@tau/protocol/surface";
import { type Component, Container, Markdown, Spacer, Text, toPlainText } from "@tau/tui";
import { transformMarkdown } from "../extensions/transform-markdown.ts";
import type { Look } from "../look.ts";

export class AssistantBlock extends Container {
  readonly #look: Look;
  readonly #thinking: Thinking;
  readonly #text: Markdown;
  readonly #problem: Text;
  readonly #gap = new Spacer(0);

  constructor(look: Look) {
    super();
    this.#look = look;
    this.#thinking = new Thinking(look);
    this.#text = new Markdown("", look.outputPad, 0, look.markdown);
    this.#problem = new Text("", look.outputPad, 0);
    this.children = [this.#thinking, this.#gap, this.#text, this.#problem];
  }

  setLive({ text, thinking }: Pick<LiveMessage, "text" | "thinking">): void {
    this.#set(text, thinking, true);
    this.#text.isStreaming = true;
    this.#thinking.isStreaming = text === "";
  }

  override invalidate(): void {
    this.#text.setPaddingX(this.#look.outputPad);
    super.invalidate();
  }

  /** No more text follows. */
  end(): void {
    this.#text.isStreaming = false;
    this.#thinking.isStreaming = false;
  }

  setMessage(message: AssistantMessage): void {
    const { stopReason } = message;
    const { text, thinking } = getTexts(message);
    this.#set(text, thinking, false);
    this.end();
    const { theme } = this.#look;
    if (stopReason === "error") this.#problem.setText(theme.fg("error", `Error: ${describeFailure(message)}`));
    else if (stopReason === "aborted") this.#problem.setText(theme.fg("muted", "Stopped."));
    else if (stopReason === "length")
      this.#problem.setText(theme.fg("warning", "The answer was cut at its length limit."));
    else if (isEmptyAnswer(message)) this.#problem.setText(theme.fg("warning", emptyAnswerText));
  }

  #set(text: string, thinking: string, isStreaming: boolean): void {
    this.#thinking.setText(transformMarkdown(this.#look, thinking, { messageType: "assistant-thinking", isStreaming }));
    this.#text.setText(transformMarkdown(this.#look, text, { messageType: "assistant", isStreaming }));
    this.#gap.setLines(text.trim() === "" ? 0 : 1);
  }
}

export function getTexts({ content }: Pick<AssistantMessage, "content">): { text: string; thinking: string } {
  const join = (texts: readonly string[]) => texts.filter((text) => text.trim() !== "").join("\n\n");
  return {
    text: join(content.flatMap((block) => (block.type === "text" ? [block.text] : []))),
    thinking: join(content.flatMap((block) => (block.type === "thinking" ? [block.thinking] : []))),
  };
}

/** Describes what happened, and what to do about it. */
function describeFailure({ errorMessage = "the request failed", failure }: AssistantMessage): string {
  const advice = getFailureAdvice(failure?.kind, "session");
  const text = toPlainText(errorMessage);
  return advice === undefined ? text : `${text}\n${advice}`;
}

/** Shown or folded. The component stays the same, so that what is printed is not printed again. */
class Thinking implements Component {
  readonly #look: Look;
  readonly #whole: Markdown;
  #folded: string[];
  #isEmpty = true;

  constructor(look: Look) {
    const { theme } = look;
    this.#look = look;
    const color = (text: string) => theme.fg("thinkingText", text);
    this.#whole = new Markdown("", look.outputPad, 0, look.markdown, { color, italic: true });
    this.#folded = drawFolded(look);
  }

  setText(text: string): void {
    this.#whole.setText(text === "" ? "" : `\n${text}`);
    this.#isEmpty = text.trim() === "";
  }

  set isStreaming(isStreaming: boolean) {
    this.#whole.isStreaming = isStreaming;
  }

  countFinished(width: number): number {
    return this.#isFolded ? this.render(width).length : this.#whole.countFinished(width);
  }

  invalidate(): void {
    this.#whole.setPaddingX(this.#look.outputPad);
    this.#folded = drawFolded(this.#look);
  }

  render(width: number): string[] {
    if (this.#isEmpty) return empty;
    return this.#look.hidesThinking ? this.#folded : this.#whole.render(width);
  }

  get #isFolded(): boolean {
    return this.#isEmpty || this.#look.hidesThinking;
  }
}

const drawFolded = ({ theme, outputPad, thinkingLabel }: Look): string[] => [
  "",
  " ".repeat(outputPad) + theme.fg("thinkingText", theme.italic(thinkingLabel)),
];

const empty: string[] = [];
