import type { ExtensionAPI } from "@tau/extensions";

export default function (tau: ExtensionAPI) {
  const notes = new Map([["todo", "Water the plants."]]);
  tau.on("mention_read", ({ text }) => {
    if (!text.startsWith("note:")) return undefined;
    const note = notes.get(text.slice("note:".length));
    return note === undefined ? { problem: "There is no such note." } : { content: [{ type: "text", text: note }] };
  });
  tau.on("mention_complete", ({ text }) => ({
    items: [...notes.keys()].map((name) => ({ value: `note:${name}` })).filter(({ value }) => value.startsWith(text)),
  }));
}
