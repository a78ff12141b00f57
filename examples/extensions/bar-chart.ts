/**
 * A tool with a renderer: the model passes labels and numbers, and the terminal draws bars as wide as there is room. The model
 * gets one line as the result: it knows the numbers already.
 */
import type { ExtensionAPI, UiComponent } from "@tau/extensions";

interface Bar {
  label: string;
  value: number;
}

/** The part of the theme that the extension uses. */
interface Theme {
  fg(color: string, text: string): string;
  bold(text: string): string;
}

export default function barChart(tau: ExtensionAPI): void {
  tau.registerTool({
    name: "bar_chart",
    label: "Bar chart",
    description: "Show numbers to the user as bars.",
    parameters: {
      type: "object",
      properties: {
        title: { type: "string" },
        bars: {
          type: "array",
          minItems: 1,
          items: {
            type: "object",
            properties: { label: { type: "string" }, value: { type: "number", minimum: 0 } },
            required: ["label", "value"],
          },
        },
      },
      required: ["title", "bars"],
    },
    readOnly: true,
    async execute(_id, { title, bars }: { title: string; bars: Bar[] }) {
      const text = `The user sees the chart ${JSON.stringify(title)} with ${bars.length} bars.`;
      return { content: [{ type: "text", text }], details: { bars } };
    },
    renderCall: ({ title }: { title?: string }, theme: Theme): UiComponent => ({
      render: () => [theme.bold(title ?? "")],
    }),
    renderResult: (result: { details?: { bars: Bar[] } }, _options: unknown, theme: Theme): UiComponent => ({
      render: (width) => drawBars(result.details?.bars ?? [], width, theme),
    }),
  });
}

/** Draws a line for each bar: its label, the bar, its value. */
function drawBars(bars: readonly Bar[], width: number, theme: Theme): string[] {
  const labelWidth = Math.min(16, Math.max(...bars.map(({ label }) => label.length), 0));
  const valueWidth = Math.max(...bars.map(({ value }) => String(value).length), 0);
  const room = Math.max(1, width - labelWidth - valueWidth - 2);
  const max = Math.max(...bars.map(({ value }) => value), 1);
  return bars.map(({ label, value }) => {
    const bar = "█".repeat(Math.round((value / max) * room));
    const name = label.slice(0, labelWidth).padEnd(labelWidth);
    return `${name} ${theme.fg("accent", bar)} ${theme.fg("dim", String(value))}`;
  });
}
