/** An answer in Markdown, over half of it code, with tables, in many small deltas; in the format of OpenAI's completions. */

export const deltas = 20_000;
const deltaSize = 20;
export const lastWord = "THEEND";

/** No two parts are the same, so that nothing is drawn from memory that would be drawn anew in a real answer. */
const createPart = (number) =>
  [
    `## Heading ${number}\n\nSome **bold** text with \`code${number}\` and a [link](https://example.com/${number}), and so on.\n\n`,
    "```ts\n",
    ...["add", "subtract", "multiply", "divide"].map(
      (name) =>
        `export function ${name}${number}(left: number, right: number): number {\n  // Comment ${number}.\n  return ${name}(left, right, ${number});\n}\n`,
    ),
    "```\n\n",
    `| name | value |\n| --- | --- |\n| one | ${number} |\n| two | ${2 * number} |\n\n`,
    `- a list ${number}\n- of items\n  - nested\n\n`,
  ].join("");

const toFrame = (choice) =>
  `data: ${JSON.stringify({ id: "a", model: "small", choices: [{ index: 0, ...choice }] })}\n\n`;

/** Creates a frame for each delta, and those that end the answer. */
export function createFrames() {
  let text = "";
  for (let number = 0; text.length < deltas * deltaSize; number++) text += createPart(number);
  const end = `\n\n${lastWord}`;
  const whole = text.slice(0, deltas * deltaSize - end.length) + end;
  const pieces = whole.match(new RegExp(`[\\s\\S]{1,${deltaSize}}`, "g"));
  return {
    deltas: pieces.map((content) => toFrame({ delta: { content } })),
    end: toFrame({ delta: {}, finish_reason: "stop" }) + "data: [DONE]\n\n",
  };
}
