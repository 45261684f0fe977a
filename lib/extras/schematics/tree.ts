/** The files of a project, as the schematics of Angular's devkit show them. The Nest CLI brings the devkit. */
export interface Tree {
  readonly root: Directory;
  exists(path: string): boolean;
  read(path: string): Buffer | null;
  create(path: string, content: string): void;
  overwrite(path: string, content: string): void;
  getDir(path: string): Directory;
}

export interface Directory {
  readonly path: string;
  readonly parent: Directory | null;
  readonly subfiles: readonly string[];
  readonly subdirs: readonly string[];
  dir(name: string): Directory;
}

/** Changes the tree. */
export type Rule = (tree: Tree, context: RuleContext) => void;

export interface RuleContext {
  readonly logger: SchematicLogger;
  /** Runs a program of the devkit after the files are written. */
  addTask(task: { toConfiguration(): { name: string; options: object } }): unknown;
}

export interface SchematicLogger {
  info(message: string): void;
  warn(message: string): void;
}

/** The content of a file; empty if it does not exist. */
export function textOf(tree: Tree, path: string): string {
  return tree.read(path)?.toString() ?? '';
}

/** Writes the file if its content is another one. */
export function write(tree: Tree, path: string, content: string): void {
  if (content !== textOf(tree, path)) tree.overwrite(path, content);
}

/** The paths of the files below a directory, without installed packages. */
export function* filesBelow(directory: Directory): Generator<string> {
  for (const name of directory.subfiles) yield `${directory.path}/${name}`.replace(/^\/+/, '/');
  for (const name of directory.subdirs) if (name !== 'node_modules') yield* filesBelow(directory.dir(name));
}
