/** `/fast`: the faster service of a provider that has one, and what it costs. */
import { getPriceFactor, getProviderInfo } from "@tau/ai/internal";
import type { ModelData } from "@tau/protocol";
import type { Interface } from "../interface.ts";

/** Turns it on or off for this and new sessions: it is the setting `serviceTier`. */
export async function toggleFast(ui: Interface, argument: string): Promise<void> {
  const { client } = ui;
  const [{ model }, { settings }] = await Promise.all([
    client.execute({ type: "get_state" }),
    client.execute({ type: "get_settings" }),
  ]);
  const wanted = argument.trim();
  if (wanted !== "" && wanted !== "on" && wanted !== "off")
    return ui.say("Use /fast, /fast on or /fast off.", "warning");
  const isOn = wanted === "" ? settings["serviceTier"] !== "priority" : wanted === "on";
  if (isOn && model && !getProviderInfo(model.provider)?.hasServiceTiers) {
    return ui.say(`${model.provider} has no faster service: OpenAI has one. Nothing was changed.`, "warning");
  }
  await client.execute({ type: "set_setting", key: "serviceTier", ...(isOn && { value: "priority" }) });
  ui.say(isOn ? `Fast answers are on.${formatPrice(model)} /fast off turns them off.` : "Fast answers are off.");
}

/** Says the price of the model then, where it has one. */
function formatPrice(model: ModelData | undefined): string {
  if (!model || model.cost.output === 0) return "";
  const factor = getPriceFactor(model.id, "priority");
  const [input, output] = [model.cost.input * factor, model.cost.output * factor].map((price) =>
    Number(price.toFixed(3)),
  );
  return ` ${model.id} costs ${factor} times as much: $${input} for a million tokens in, $${output} for a million out.`;
}
