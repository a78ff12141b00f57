/** Messages of a conversation, drawn. */
import type { AssistantMessage } from "@tau/ai";
import type { BranchSummaryMessage, CompactionSummaryMessage, CustomMessage } from "@tau/protocol";
import { Box, type Component, Container, Markdown, type MarkdownTheme, Spacer, Text } from "@tau/tui";
import { contentText } from "../../pi-ai/content.ts";
import { getMarkdownTheme, theme } from "../theme/theme.ts";
import type { ParsedSkillBlock } from "../skills/skill-block.ts";

export class UserMessageComponent extends Container {
  constructor(text: string, markdownTheme: MarkdownTheme = getMarkdownTheme(), outputPad = 1) {
    super();
    this.addChild(new Spacer(1));
    this.addChild(
      new Markdown(text, outputPad, 1, markdownTheme, {
        bgColor: (line) => theme.bg("userMessageBg", line),
        color: (line) => theme.fg("userMessageText", line),
      }),
    );
  }
}

export class AssistantMessageComponent extends Container {
  #hidesThinking: boolean;
  readonly #markdownTheme: MarkdownTheme;
  #message: AssistantMessage | undefined;

  constructor(
    message?: AssistantMessage,
    hideThinkingBlock = false,
    markdownTheme: MarkdownTheme = getMarkdownTheme(),
  ) {
    super();
    this.#hidesThinking = hideThinkingBlock;
    this.#markdownTheme = markdownTheme;
    if (message) this.updateContent(message);
  }

  setHideThinkingBlock(hide: boolean): void {
    this.#hidesThinking = hide;
    if (this.#message) this.updateContent(this.#message);
  }

  updateContent(message: AssistantMessage): void {
    this.#message = message;
    this.clear();
    for (const block of message.content) {
      if (block.type === "text" && block.text.trim() !== "") this.#add(block.text.trim());
      if (block.type === "thinking" && block.thinking.trim() !== "") this.#addThinking(block.thinking.trim());
    }
    if (message.stopReason === "error" || message.stopReason === "aborted") {
      const text = message.stopReason === "aborted" ? "Aborted" : `Error: ${message.errorMessage ?? "unknown"}`;
      this.addChild(new Spacer(1));
      this.addChild(new Text(theme.fg("error", text), 1, 0));
    }
  }

  #add(text: string): void {
    this.addChild(new Spacer(1));
    this.addChild(new Markdown(text, 1, 0, this.#markdownTheme));
  }

  #addThinking(text: string): void {
    this.addChild(new Spacer(1));
    const styled = { color: (line: string) => theme.fg("thinkingText", line), italic: true };
    if (this.#hidesThinking) this.addChild(new Text(theme.italic(theme.fg("thinkingText", "Thinking...")), 1, 0));
    else this.addChild(new Markdown(text, 1, 0, this.#markdownTheme, styled));
  }
}

type MessageRenderer = (
  message: CustomMessage,
  options: { expanded: boolean },
  theme: unknown,
) => Component | undefined;

export class CustomMessageComponent extends Container {
  readonly #message: CustomMessage;
  readonly #renderer: MessageRenderer | undefined;
  #isExpanded = false;

  constructor(message: CustomMessage, customRenderer?: MessageRenderer) {
    super();
    this.#message = message;
    this.#renderer = customRenderer;
    this.#build();
  }

  setExpanded(expanded: boolean): void {
    this.#isExpanded = expanded;
    this.#build();
  }

  override invalidate(): void {
    this.#build();
    super.invalidate();
  }

  #build(): void {
    this.clear();
    this.addChild(new Spacer(1));
    const own = this.#renderer?.(this.#message, { expanded: this.#isExpanded }, theme);
    this.addChild(own ?? createPanel(this.#message.customType, contentText(this.#message.content)));
  }
}

/** A titled panel whose text is shown when it is unfolded. */
class FoldedMessage extends Box {
  readonly #title: string;
  readonly #line: string;
  readonly #text: string;

  constructor(title: string, line: string, text: string, padding = 1) {
    super(padding, 1, (content) => theme.bg("customMessageBg", content));
    this.#title = title;
    this.#line = line;
    this.#text = text;
    this.setExpanded(false);
  }

  setExpanded(expanded: boolean): void {
    this.clear();
    this.addChild(new Text(formatTitle(this.#title), 0, 0));
    this.addChild(new Spacer(1));
    this.addChild(
      expanded
        ? new Markdown(this.#text, 0, 0, getMarkdownTheme(), { color: (line) => theme.fg("customMessageText", line) })
        : new Text(theme.fg("customMessageText", this.#line), 0, 0),
    );
  }
}

const formatTitle = (title: string): string => theme.fg("customMessageLabel", theme.bold(`[${title}]`));

function createPanel(title: string, text: string): Box {
  const panel = new Box(1, 1, (content) => theme.bg("customMessageBg", content));
  panel.addChild(new Text(formatTitle(title), 0, 0));
  panel.addChild(new Spacer(1));
  panel.addChild(
    new Markdown(text, 0, 0, getMarkdownTheme(), { color: (line) => theme.fg("customMessageText", line) }),
  );
  return panel;
}

export class BranchSummaryMessageComponent extends FoldedMessage {
  constructor(message: BranchSummaryMessage) {
    super("branch", "Branch summary", `**Branch Summary**\n\n${message.summary}`);
  }
}

export class CompactionSummaryMessageComponent extends FoldedMessage {
  constructor(message: CompactionSummaryMessage) {
    const line = `Compacted from ${message.tokensBefore.toLocaleString("en-US")} tokens`;
    super("compaction", line, `**${line}**\n\n${message.summary}`);
  }
}

export class SkillInvocationMessageComponent extends FoldedMessage {
  constructor(skillBlock: ParsedSkillBlock) {
    super("skill", skillBlock.name, `**${skillBlock.name}**\n\n${skillBlock.content}`);
  }
}
