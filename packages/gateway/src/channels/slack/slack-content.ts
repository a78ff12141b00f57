/** The content of a message to Slack: as text where that is enough, else as blocks. Pure. */
import type { ChannelButton } from "@tau/extensions";
import { splitText } from "../split-text.ts";
import { toMrkdwn } from "./slack-mrkdwn.ts";

/** Slack refuses an edit whose text is longer. */
const maxMrkdwnLength = 4_000;
const maxSectionLength = 3_000;
const maxLabelLength = 75;
const maxValueLength = 2_000;

type Block = Readonly<Record<string, unknown>>;

interface SlackContent {
  /** Beside blocks, this is for notifications only. */
  readonly text: string;
  readonly blocks: readonly Block[];
}

export function toContent(markdown: string, buttons: readonly ChannelButton[] = []): SlackContent {
  const text = toMrkdwn(markdown) || " ";
  if (text.length <= maxMrkdwnLength && buttons.length === 0) return { text, blocks: [] };
  return { text: shorten(text), blocks: [...listSections(markdown).map(toSection), ...toActions(buttons)] };
}

/** Cuts the Markdown so that each part fits into a section, also where most of it has to be escaped. */
function listSections(markdown: string, maxLength = maxSectionLength): string[] {
  return splitText(markdown, maxLength).flatMap((part) => {
    const section = toMrkdwn(part);
    return section.length <= maxSectionLength ? [section] : listSections(part, Math.floor(maxLength / 2));
  });
}

const toSection = (text: string): Block => ({ type: "section", text: { type: "mrkdwn", text, verbatim: true } });

function toActions(buttons: readonly ChannelButton[]): Block[] {
  const elements = buttons
    .filter(({ value }) => value.length <= maxValueLength)
    .map(({ label, value }, index) => ({
      type: "button",
      text: { type: "plain_text", text: label.slice(0, maxLabelLength), emoji: false },
      action_id: `tau-${index}`,
      value,
    }));
  return elements.length > 0 ? [{ type: "actions", elements }] : [];
}

/** Without a part of an escaped character at the end. */
const shorten = (text: string): string =>
  text.length <= maxMrkdwnLength
    ? text
    : `${text
        .slice(0, maxMrkdwnLength - 1)
        .replace(/&\w{0,4}$/, "")
        .toWellFormed()}…`;
