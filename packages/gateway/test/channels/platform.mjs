// A platform for tests, as the program of a stdio channel. It keeps in files what a platform keeps: messages that were not
// acknowledged are written again, and everything that is sent is kept. Arguments: a directory, and how many messages there are.
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";

const [directory, count, senders = "4"] = process.argv.slice(2);
const readLines = (name) => {
  const path = join(directory, name);
  return existsSync(path) ? readFileSync(path, "utf8").trim().split("\n").filter(Boolean) : [];
};
const write = (value) => process.stdout.write(`${JSON.stringify(value)}\n`);

const received = new Set(readLines("received"));
/** Writes the next message of a person once the one before it was acknowledged, so that their order is known. */
const writeNext = (sender) => {
  for (let index = sender; index < Number(count); index += Number(senders)) {
    if (received.has(`m${index}`)) continue;
    const id = `p${sender}`;
    write({ type: "message", id: `m${index}`, address: { channelId: id }, sender: { id }, text: `question ${index}` });
    return;
  }
};

createInterface({ input: process.stdin }).on("line", (line) => {
  const value = JSON.parse(line);
  if (value.type === "received") {
    received.add(value.id);
    appendFileSync(join(directory, "received"), `${value.id}\n`);
    writeNext(Number(value.id.slice(1)) % Number(senders));
  } else if (value.type === "failed") setTimeout(() => writeNext(Number(value.id.slice(1)) % Number(senders)), 50);
  else if (value.type === "send") {
    appendFileSync(join(directory, "sent"), `${JSON.stringify([value.address.channelId, value.text])}\n`);
    write({ type: "delivery", id: value.id, status: "sent", messageId: value.id });
  }
});
process.stdin.on("end", () => process.exit(0));
for (let sender = 0; sender < Number(senders); sender++) writeNext(sender);
