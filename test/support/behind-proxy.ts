import { through, type World } from './engines.js';
import { WireProxy } from './wire-proxy.js';

/** The world as it is, and a DataSource whose connections, and the library's that are made from it, pass a proxy. */
export async function behindProxy(world: World) {
  const proxy = await WireProxy.open((world.connection as { url: string }).url);
  const dataSource = await world.connect(through(world.connection, proxy.port));
  world.afterTest(() => proxy.close());
  const start: World['start'] = async (settings) => {
    const engine = await world.start(settings);
    // Whoever waits for an answer that was swallowed shall not wait for it at the end.
    world.afterTest(() => proxy.close());
    return engine;
  };
  return { world: { ...world, start }, proxy, dataSource };
}
