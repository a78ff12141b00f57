/** The two ways to use a terminal: its own scrollback, or the whole screen. */
import {
  type Component,
  Container,
  isViewportTUI,
  ScrollView,
  type Terminal,
  type Theme,
  TUI,
  TuiAltScreen,
  VStack,
} from "@tau/tui";
import type { TerminalSettings } from "./settings.ts";

export function createScreen(terminal: Terminal, settings: TerminalSettings, theme: Theme): TUI {
  if (settings.tuiMode === "regular") return new TUI(terminal, settings.showHardwareCursor);
  const { fullscreenWheelScrollLines: wheel, fullscreenCopyOnSelect: copyOnSelect } = settings;
  return new TuiAltScreen(terminal, settings.showHardwareCursor, undefined, {
    copyOnSelect,
    ...(wheel !== "auto" && { wheelScrollLines: wheel }),
    searchMatchStyle: (text) => theme.bg("searchMatchBg", theme.fg("searchMatchText", text)),
    scrollToEndIndicator: () => theme.fg("accent", "↓ to the end"),
  });
}

interface ScreenParts {
  /** The part that grows; in a full screen it is scrolled. */
  conversation: readonly Component[];
  /** The part that stays at the bottom. */
  below: readonly Component[];
  theme: Theme;
}

/** Returns what scrolls the conversation; undefined if the terminal does. */
export function layOut(
  tui: TUI,
  { conversation, below, theme }: ScreenParts,
  { fullscreenScrollbar }: TerminalSettings,
): ScrollView | undefined {
  if (!isViewportTUI(tui)) {
    for (const part of [...conversation, ...below]) tui.addChild(part);
    return undefined;
  }
  const scroll = new ScrollView(group(conversation), {
    follow: "end",
    primary: true,
    overscroll: "chain",
    scrollbar: fullscreenScrollbar,
    scrollbarTrackStyle: (text) => theme.fg("scrollbarTrack", text),
    scrollbarThumbStyle: (text) => theme.fg("scrollbarThumb", text),
  });
  tui.setLayoutRoot(
    new VStack([
      { component: scroll, basis: 0, grow: 1 },
      // What has no room is cut at its top, as in the main screen: a question is answered at its end.
      { component: new ScrollView(group(below), { follow: "end" }), basis: "auto", shrink: 1, minSize: 1 },
    ]),
  );
  return scroll;
}

/** Components one below the other. */
export function group(components: readonly Component[]): Container {
  const container = new Container();
  container.children = [...components];
  return container;
}
