// Mounts one answer. Follows view.js and claims.js in the same module.
const VIEWS = new WeakMap();

export default function ({ parentElement, data, setTriggerValue, setStateValue }) {
  let view = VIEWS.get(parentElement);
  if (!view || !view.root.isConnected) {
    VIEWS.set(parentElement, (view = new View(parentElement)));
    listen(view.root, () => view);
  }
  view.trigger = setTriggerValue;
  view.keep = setStateValue;
  view.update(data);
}
