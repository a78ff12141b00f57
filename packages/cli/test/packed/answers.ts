/** A terminal that answers what it is asked. */
import type { PtyOptions } from "./pty.ts";

const color = "rgb:fefe/fefe/fefe";

/** By the question. */
const answers: ReadonlyMap<string, string> = new Map([
  ["\x1b[?u", "\x1b[?0u"],
  ["\x1b[c", "\x1b[?62;4c"],
  ["\x1b]10;?\x1b\\", `\x1b]10;${color}\x1b\\`],
  ["\x1b]11;?\x1b\\", `\x1b]11;${color}\x1b\\`],
  ...Array.from({ length: 16 }, (_unused, index) => {
    const subject = `\x1b]4;${index};`;
    return [`${subject}?\x1b\\`, `${subject}rgb:1111/2222/3333\x1b\\`] as const;
  }),
]);

/** How a part of an answer would look as text. */
export const answerText = /rgb:|fefe|\/2222|62;4|\?0u/;

/** For `onOutput`. `send` gets the answers; default: they are typed. */
export function createAnswers(
  send: (answers: string, type: (text: string) => void) => void = (answers, type) => type(answers),
): NonNullable<PtyOptions["onOutput"]> {
  let index = 0;
  return (output, type) => {
    let all = "";
    for (let at = output.indexOf("\x1b", index); at !== -1; at = output.indexOf("\x1b", at + 1)) {
      const question = [...answers.keys()].find((text) => output.startsWith(text, at));
      if (question === undefined) continue;
      all += answers.get(question);
      index = at + question.length;
    }
    if (all !== "") send(all, type);
  };
}
