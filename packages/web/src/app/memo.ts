/** A component that is drawn again only when one of its properties is another value. */
import { Component, type ComponentChildren, createElement, type FunctionComponent } from "preact";

export function memo<Props extends object>(draw: (props: Props) => ComponentChildren): FunctionComponent<Props> {
  class Memo extends Component<Props> {
    override shouldComponentUpdate(next: Readonly<Props>): boolean {
      const before = this.props as Record<string, unknown>;
      const after = next as Record<string, unknown>;
      const keys = Object.keys(after);
      return keys.length !== Object.keys(before).length || keys.some((key) => after[key] !== before[key]);
    }

    override render(props: Props): ComponentChildren {
      return createElement(draw as FunctionComponent<Props>, props);
    }
  }
  return Memo as unknown as FunctionComponent<Props>;
}
