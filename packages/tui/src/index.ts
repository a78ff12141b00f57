export { type Component, CURSOR_MARKER, type Focusable, isFocusable } from "./component.ts";
export { Container } from "./components/container.ts";
export { Text } from "./components/text.ts";
export type { TuiMouseButton, TuiMouseEvent, TuiMouseEventResult, TuiMouseEventType } from "./mouse.ts";
export { compositeTuiLine } from "./screen/composite.ts";
export type {
  OverlayAnchor,
  OverlayBounds,
  OverlayMargin,
  OverlayOptions,
  SizeValue,
} from "./screen/overlay-layout.ts";
export type { OverlayHandle } from "./screen/overlays.ts";
export { TUI, TUI as TuiMainScreen, type TuiInputListener, type TuiInputListenerResult } from "./screen/tui.ts";
export type { Terminal } from "./terminal/terminal.ts";
export { visibleWidth } from "./text/cells.ts";
export { stripTerminalSequences } from "./text/escape.ts";
export { sliceByColumn } from "./text/slice.ts";
export { truncateToWidth } from "./text/truncate.ts";
export { wrapTextWithAnsi } from "./text/wrap.ts";
