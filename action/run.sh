#!/usr/bin/env bash
# The commands of action.yml. Runs in the folder of the configuration.
set -eo pipefail

migrate=node_modules/.bin/migrate
if [[ ! -e $migrate ]]; then
  echo "::error::$PWD/$migrate does not exist; install the packages before this action, for example with npm ci"
  exit 2
fi
# Where Git finds a credential, every migration does too: as actions/checkout keeps it, in a helper, or in an address.
has_credential() {
  # A container may belong to another user than the checkout, which Git then would not look at.
  local config=(git -c safe.directory='*' config)
  "${config[@]}" --get-regexp '^http\.(.*\.)?extraheader$' ||
    "${config[@]}" --local --includes --get-regexp '^(credential\..*helper|core\.sshcommand)$' ||
    "${config[@]}" --get-regexp '^(remote|url)\.' | grep -E 'https?://[^/@[:space:]]+@'
}
case ${GITHUB_EVENT_NAME:-} in
  '' | push | schedule | workflow_dispatch | repository_dispatch | release | create | deployment) ;; # only people who may push cause these
  *)
    if has_credential >/dev/null 2>&1; then
      echo "::error::the code that this job checked out, for the event $GITHUB_EVENT_NAME, can read the credential of the checkout; set persist-credentials to false for actions/checkout"
      exit 2
    fi
    ;;
esac
plan=$LANCE_MIGRATE_PLAN
comment=${RUNNER_TEMP:-${TMPDIR:-/tmp}}/lance-migrate-comment.md
target=()
if [[ -n $LANCE_MIGRATE_TARGET ]]; then target+=(--target "$LANCE_MIGRATE_TARGET"); fi
if [[ -n $LANCE_MIGRATE_DATABASE ]]; then target+=(--database "$LANCE_MIGRATE_DATABASE"); fi
# Also over several lines, as YAML writes long texts.
read -rd '' -a more <<<"$LANCE_MIGRATE_ARGUMENTS" || true

output() {
  printf '%s=%s\n' "$1" "$2" >>"$GITHUB_OUTPUT"
}

# Runs the command of migrate. Its exit code is in $code afterwards. A signal is passed on, so that it stops safely.
run() {
  code=0
  "$migrate" "$@" &
  local child=$!
  trap 'kill -TERM "$child" 2>/dev/null' INT TERM
  wait "$child" || code=$?
  # A signal ends `wait` before the command has stopped.
  while kill -0 "$child" 2>/dev/null; do
    code=0
    wait "$child" || code=$?
  done
  trap - INT TERM
}

# Lines on stdin as a block of code, which nothing in them can end.
indented() {
  sed 's/^/    /'
}

publish() {
  cat "$comment" >>"$GITHUB_STEP_SUMMARY"
  output comment "$comment"
}

check() {
  local worst=0 deny=() sarif=() since=()
  if [[ $LANCE_MIGRATE_DENY_WARNINGS == true ]]; then deny=(--deny-warnings); fi
  if [[ -n $LANCE_MIGRATE_SARIF ]]; then sarif=(--sarif "$LANCE_MIGRATE_SARIF"); fi
  if [[ -n $LANCE_MIGRATE_SINCE ]]; then since=(--since "$LANCE_MIGRATE_SINCE"); fi
  checked lint --github "${deny[@]}" "${sarif[@]}" "${since[@]}" "${target[@]}"
  if grep -qs defineSchema schema.{ts,mts,js,mjs} || configures schema; then checked generate --check "${target[@]}"; fi
  if compgen -G "*/history.d.ts" >/dev/null || configures types; then checked types --check "${target[@]}"; fi
  exit "$worst"
}

checked() {
  echo "migrate $1"
  run "$@"
  if ((code > worst)); then worst=$code; fi
}

configures() {
  grep -qsE "^\s*$1:" migrate.config.*
}

plan() {
  rm -f "$plan"
  local errors=$comment.errors
  run plan --format markdown --out "$plan" "${target[@]}" "${more[@]}" >"$comment" 2>"$errors"
  local ended=$code
  # A plan that up would refuse is not saved, and --out does not print it.
  if ((ended == 4)); then run plan --format markdown "${target[@]}" "${more[@]}" >"$comment" 2>/dev/null; fi
  cat "$comment"
  cat "$errors" >&2
  # Without a plan, the comment states the error itself.
  if ((ended != 0)) && ! grep -q '^### No plan for' "$comment"; then
    {
      printf '\n**There is no plan to apply:** `migrate plan` ends with %s.\n\n' "$ended"
      indented <"$errors"
    } >>"$comment"
  fi
  publish
  output refused "$([[ $ended == 4 ]] && echo true || echo false)"
  if [[ -e $plan ]]; then output plan "$plan"; fi
  output pending "$("$migrate" status --json "${target[@]}" 2>/dev/null | node -p 'JSON.parse(fs.readFileSync(0)).pending.length' 2>/dev/null || true)"
  exit "$ended"
}

up() {
  local saved=()
  if [[ -e $plan ]]; then saved=(--plan "$plan"); fi
  run up "${saved[@]}" "${target[@]}" "${more[@]}"
  local ended=$code
  if ((ended == 0)); then
    printf '### Migrations are applied\n\n' >"$comment"
  else
    printf '### `migrate up` ended with %s\n\n' "$ended" >"$comment"
  fi
  run status --check "${target[@]}" >"$comment.status" 2>&1
  cat "$comment.status"
  indented <"$comment.status" >>"$comment"
  publish
  if ((ended == 0)); then ended=$code; fi
  exit "$ended"
}

case $LANCE_MIGRATE_COMMAND in
  check | plan | up) "$LANCE_MIGRATE_COMMAND" ;;
  *)
    echo "::error::the input command must be check, plan or up"
    exit 2
    ;;
esac
