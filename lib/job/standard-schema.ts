/**
 * The part of the Standard Schema specification (https://standardschema.dev, version 1) that this library uses. Zod,
 * Valibot, ArkType and others implement it. This declaration saves the published package a dependency.
 */
export interface StandardSchemaV1<Input = unknown, Output = Input> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
  };
}

type StandardResult<Output> =
  { readonly value: Output; readonly issues?: undefined } | { readonly issues: readonly StandardIssue[] };

interface StandardIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

export async function validate(
  schema: StandardSchemaV1,
  value: unknown,
): Promise<{ value: unknown } | { problem: string }> {
  const result = await schema['~standard'].validate(value);
  if (!result.issues) return { value: result.value };
  const lines = result.issues.map(({ message, path = [] }) => {
    const location = path.map((step) => String(typeof step === 'object' ? step.key : step)).join('.');
    return location ? `${location}: ${message}` : message;
  });
  return { problem: lines.join('; ') };
}
