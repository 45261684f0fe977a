import { connectionThrough, type World } from './engines.js';
import { WireProxy } from './wire-proxy.js';

/**
 * The same world behind a proxy, and a DataSource whose connections go through the proxy, including those of the
 * library.
 */
export async function behindProxy(world: World) {
  const proxy = await WireProxy.open((world.connection as { url: string }).url);
  const dataSource = await world.connect(connectionThrough(world.connection, proxy.port));
  world.afterTest(() => proxy.close());
  const start: World['start'] = async (settings) => {
    const engine = await world.start(settings);
    // Calls that wait for a dropped answer must not delay the end of the test.
    world.afterTest(() => proxy.close());
    return engine;
  };
  return { world: { ...world, start }, proxy, dataSource };
}
