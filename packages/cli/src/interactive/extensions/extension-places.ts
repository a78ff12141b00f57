/** Where extensions can put something on the screen. The places are there without extensions too, and empty. */
import { type Component, Container, type Theme } from "@tau/tui";
import { LiveLines } from "../live-lines.ts";
import { group } from "../screen.ts";
import type { StatusArea } from "../status-area.ts";
import { FooterData } from "./footer-data.ts";
import { Slot } from "./slot.ts";

export interface ExtensionPlaces {
  header: Slot;
  footer: Slot;
  footerData: FooterData;
  widgets: Readonly<Record<"aboveEditor" | "belowEditor", Container>>;
}

/** `header` is what the conversation begins with. */
export function createExtensionPlaces(header: readonly Component[], status: StatusArea, theme: Theme): ExtensionPlaces {
  const footerData = new FooterData(() => status.branch);
  const statuses = new LiveLines((width) => footerData.drawStatuses(theme, width));
  return {
    header: new Slot(group(header)),
    footer: new Slot(group([status.status, statuses]), { isEphemeral: true }),
    footerData,
    widgets: { aboveEditor: ephemeral(), belowEditor: ephemeral() },
  };
}

const ephemeral = (): Container => Object.assign(new Container(), { isEphemeral: true });
