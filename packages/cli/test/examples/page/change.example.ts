import type { ExtensionAPI } from "@tau/extensions";

export default function (tau: ExtensionAPI) {
  // Each handler gets what the one before it made of the text. `handled` ends it: nothing is sent.
  tau.on("input", ({ text }, { ui }) => {
    if (text === "ping") {
      ui.notify("pong");
      return { action: "handled" };
    }
    return text.startsWith("? ")
      ? { action: "transform", text: `Answer in one sentence: ${text.slice(2)}` }
      : { action: "continue" };
  });
  // What is left out stays as it was.
  tau.on("tool_result", ({ content }) => ({
    content: content.map((block) =>
      block.type === "text" ? { ...block, text: block.text.replaceAll(/\b\d{16}\b/g, "(a number)") } : block,
    ),
  }));
  // Before the message is in the log. The role must stay the same.
  tau.on("message_end", ({ message }) => {
    if (message.role !== "assistant") return undefined;
    const content = message.content.map((block) =>
      block.type === "text" ? { ...block, text: block.text.replace(/^Certainly! /, "") } : block,
    );
    return { message: { ...message, content } };
  });
}
