/** A skill in the text of a message, as it is put there when a person calls it by its name. */
export interface ParsedSkillBlock {
  name: string;
  location: string;
  content: string;
  /** The text that the user wrote after the block. */
  userMessage: string | undefined;
}

export function parseSkillBlock(text: string): ParsedSkillBlock | null {
  const match = /^<skill name="([^"]+)" location="([^"]+)">\n([\s\S]*?)\n<\/skill>(?:\n\n([\s\S]+))?$/.exec(text);
  if (!match) return null;
  const [, name = "", location = "", content = "", userMessage] = match;
  return { name, location, content, userMessage: userMessage?.trim() || undefined };
}
