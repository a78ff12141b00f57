/** A record on a line of its own. JSON has no raw line feed, and U+2028 and U+2029 are no line ends here. */
export const jsonLine = (record: unknown): string => `${JSON.stringify(record)}\n`;
