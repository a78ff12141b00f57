/** A long list of which only what is on the screen, and a little around it, is drawn. Items may have any height. */
import { Component, type ComponentChildren, createRef } from "preact";
import { findIndex, findRange, getOffsets, type Range } from "./ranges.ts";

export interface VirtualListProps<T extends { key: string }> {
  items: readonly T[];
  draw: (item: T) => ComponentChildren;
  /** In pixels, for items that were never drawn. */
  estimatedHeight: number;
  label: string;
  /** Whether it stays at its end while it grows, unless the reader has scrolled away. */
  followsEnd?: boolean;
  /** The beginning comes near. */
  onNearStart?: () => void;
  /** Whether the end is on the screen. */
  onAtEnd?: (isAtEnd: boolean) => void;
  role?: "log" | "list";
}

const margin = 1_200;
const nearStart = 2_000;
/** Pixels from the end that count as being there. */
const endSlack = 40;

interface State {
  range: Range;
}

export class VirtualList<T extends { key: string }> extends Component<VirtualListProps<T>, State> {
  override state: State = { range: { start: 0, end: 0 } };
  readonly #scroller = createRef<HTMLDivElement>();
  readonly #before = createRef<HTMLDivElement>();
  readonly #after = createRef<HTMLDivElement>();
  /** Measured heights by key. */
  readonly #heights = new Map<string, number>();
  readonly #elements = new Map<Element, string>();
  #offsets: Float64Array = new Float64Array(1);
  #isAtEnd = true;
  #frame = 0;
  /** The item that stays where it is on the screen when what is above it changes its height. */
  #anchor: { key: string; top: number } | undefined;
  readonly #observer = new ResizeObserver((changes) => this.#measure(changes));

  /** Brings the end to the screen. */
  scrollToEnd(): void {
    this.#isAtEnd = this.props.followsEnd === true;
    const scroller = this.#scroller.current;
    if (scroller) scroller.scrollTop = scroller.scrollHeight;
  }

  override componentDidMount(): void {
    this.#observer.observe(this.#scroller.current!);
    this.#update();
  }

  override componentWillUnmount(): void {
    this.#observer.disconnect();
    cancelAnimationFrame(this.#frame);
  }

  override componentDidUpdate(before: VirtualListProps<T>): void {
    if (before.items !== this.props.items) this.#update();
    else this.#place();
  }

  override render({ items, draw, label, role }: VirtualListProps<T>, { range }: State): ComponentChildren {
    return (
      <div
        class="scroller"
        ref={this.#scroller}
        onScroll={this.#onScroll}
        tabIndex={0}
        role={role ?? "list"}
        aria-label={label}
        aria-live="off"
      >
        <div ref={this.#before} aria-hidden="true" />
        {items.slice(range.start, range.end).map((item) => (
          <div class="row" key={item.key} ref={(element) => this.#observe(item.key, element)}>
            {draw(item)}
          </div>
        ))}
        <div ref={this.#after} aria-hidden="true" />
      </div>
    );
  }

  readonly #onScroll = (): void => {
    this.#frame ||= requestAnimationFrame(() => {
      this.#frame = 0;
      this.#takeScroll();
    });
  };

  #takeScroll(): void {
    const scroller = this.#scroller.current;
    if (!scroller) return;
    const { scrollTop, scrollHeight, clientHeight } = scroller;
    this.#setAtEnd(scrollHeight - scrollTop - clientHeight <= endSlack);
    this.#anchor = this.#findAnchor(scrollTop);
    this.#setRange(scrollTop, clientHeight);
    if (scrollTop < nearStart) this.props.onNearStart?.();
  }

  #findAnchor(top: number): { key: string; top: number } | undefined {
    const index = findIndex(this.#offsets, top);
    const item = this.props.items[index];
    return item && { key: item.key, top: this.#offsets[index]! - top };
  }

  /** The items or their heights have changed. */
  #update(): void {
    const { items, estimatedHeight, followsEnd } = this.props;
    this.#offsets = getOffsets(items.map(({ key }) => this.#heights.get(key) ?? estimatedHeight));
    const scroller = this.#scroller.current;
    if (!scroller) return;
    this.#place();
    if (followsEnd && this.#isAtEnd) scroller.scrollTop = scroller.scrollHeight;
    else this.#restoreAnchor(scroller);
    this.#setRange(scroller.scrollTop, scroller.clientHeight);
    if (scroller.scrollTop < nearStart) this.props.onNearStart?.();
  }

  #restoreAnchor(scroller: HTMLDivElement): void {
    const anchor = this.#anchor;
    const index = anchor ? this.props.items.findIndex(({ key }) => key === anchor.key) : -1;
    if (!anchor || index < 0) return;
    const top = this.#offsets[index]! - anchor.top;
    if (Math.abs(top - scroller.scrollTop) > 1) scroller.scrollTop = top;
  }

  /** Gives what is not drawn its room. */
  #place(): void {
    const { start, end } = this.state.range;
    const count = this.#offsets.length - 1;
    const last = Math.min(end, count);
    setHeight(this.#before.current, this.#offsets[Math.min(start, count)]!);
    setHeight(this.#after.current, this.#offsets[count]! - this.#offsets[last]!);
  }

  #setRange(top: number, height: number): void {
    const range = findRange(this.#offsets, { top, height, margin });
    const before = this.state.range;
    if (range.start !== before.start || range.end !== before.end) this.setState({ range });
    else this.#place();
  }

  #setAtEnd(isAtEnd: boolean): void {
    if (isAtEnd === this.#isAtEnd) return;
    this.#isAtEnd = isAtEnd;
    this.props.onAtEnd?.(isAtEnd);
  }

  #observe(key: string, element: HTMLElement | null): void {
    if (element) {
      this.#elements.set(element, key);
      this.#observer.observe(element);
      return;
    }
    for (const [known, itsKey] of this.#elements) {
      if (itsKey !== key || known.isConnected) continue;
      this.#elements.delete(known);
      this.#observer.unobserve(known);
    }
  }

  #measure(changes: readonly ResizeObserverEntry[]): void {
    let hasChanged = false;
    for (const { target, borderBoxSize } of changes) {
      const key = this.#elements.get(target);
      if (target === this.#scroller.current) hasChanged = true;
      const height = borderBoxSize[0]?.blockSize ?? 0;
      if (key === undefined || !target.isConnected || this.#heights.get(key) === height) continue;
      this.#heights.set(key, height);
      hasChanged = true;
    }
    if (hasChanged) this.#update();
  }
}

function setHeight(element: HTMLElement | null, height: number): void {
  if (element) element.style.height = `${height}px`;
}
