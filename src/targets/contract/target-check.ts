/** One thing that a run relies on, and whether the target does it. */
export interface TargetCheck {
  readonly what: string;
  readonly found: boolean;
  /** Whether `migrate up` relies on it. */
  readonly needed: boolean;
  /** What the target answered, or what follows from the finding. */
  readonly detail?: string | undefined;
}
