/** Reads the text of a message of Slack as plain text. Pure. */

/** `botId` is the user id of the app, whose own mention is left out. */
export const toPlainText = (text: string, botId: string): string =>
  text
    .replaceAll(/<([^<>]*)>( ?)/g, (_, content: string, space: string) =>
      getMentionedUser(content) === botId ? "" : readReference(content) + space,
    )
    .replaceAll(/&(amp|lt|gt);/g, (_, name: string) => ({ amp: "&", lt: "<", gt: ">" })[name]!)
    .trim();

export const mentionsUser = (text: string, userId: string): boolean =>
  [...text.matchAll(/<([^<>]*)>/g)].some(([, content = ""]) => getMentionedUser(content) === userId);

const getMentionedUser = (content: string): string | undefined => /^@([A-Z0-9]+)(?:\||$)/.exec(content)?.[1];

/** The content of angle brackets: a mention, a channel, a date or a link, perhaps with a label. */
function readReference(content: string): string {
  const [target = "", label = ""] = splitOnce(content, "|");
  switch (target[0]) {
    case "@":
      return `@${label || target.slice(1)}`;
    case "#":
      return `#${label || target.slice(1)}`;
    case "!": {
      const [name = "", id = ""] = target.slice(1).split("^");
      if (name === "date") return label;
      const shown = label || (name === "subteam" ? id : name);
      return shown.startsWith("@") ? shown : `@${shown}`;
    }
    default:
      return readLink(target, label);
  }
}

/** A link that is shown as another text shows where it leads too. */
function readLink(url: string, label: string): string {
  const address = url.replace(/^(mailto|tel):/, "");
  const isSame = label === "" || label === url || label === address || url === `http://${label}`;
  return isSame ? label || address : `${label} (${address})`;
}

function splitOnce(text: string, separator: string): string[] {
  const index = text.indexOf(separator);
  return index === -1 ? [text] : [text.slice(0, index), text.slice(index + 1)];
}
