/// A shell that completions are made for.
enum Shell: String, CaseIterable, Sendable {
  case bash, zsh, fish

  /// The script that makes the shell ask the tool for completions.
  ///
  /// The words come from the tool itself, `fieldpack --complete`, so a script never goes stale.
  var completionScript: String {
    switch self {
    case .bash: Self.bashScript
    case .zsh: Self.zshScript
    case .fish: Self.fishScript
    }
  }

  // Bash cuts words at `:` and `=`. Words that stand together in the line are one word for us, and
  // what stands before the last cut must not be in the reply.
  private static let bashScript = #"""
    # Completions of fieldpack for bash: eval "$(fieldpack completions bash)"
    _fieldpack() {
      local tool="${COMP_WORDS[0]}" rest="$COMP_LINE" words=() word before i
      for ((i = 0; i <= COMP_CWORD; i++)); do
        word="${COMP_WORDS[i]}"
        before="${rest%%"$word"*}"
        if ((i > 1)) && [[ -n $word && -z $before ]]; then
          words[${#words[@]} - 1]+="$word"
        else
          words+=("$word")
        fi
        rest="${rest#*"$word"}"
      done
      local current="${words[${#words[@]} - 1]}" cut=""
      if [[ $current == *=* && $COMP_WORDBREAKS == *=* ]]; then cut="${current%"${current##*=}"}"; fi
      if [[ $current == *:* && $COMP_WORDBREAKS == *:* ]]; then cut="${current%"${current##*:}"}"; fi
      local kind line quote=""
      case "$current" in [\"\']*) quote="${current:0:1}" ;; esac
      COMPREPLY=()
      {
        read -r kind
        case "$kind" in
          files*)
            local part="${current#--*=}" extension found pattern=""
            for extension in ${kind#files}; do pattern+="${pattern:+|}*.$extension"; done
            compopt -o filenames 2>/dev/null
            shopt -q extglob || { shopt -s extglob; local unset=1; }
            while IFS= read -r found; do COMPREPLY+=("$found"); done < <(
              compgen -d -- "$part"
              if [[ -n $pattern ]]; then compgen -f -X "!@($pattern)" -- "$part"
              else compgen -f -X '' -- "$part" | while IFS= read -r found; do
                [[ -d $found ]] || printf '%s\n' "$found"; done; fi
            )
            [[ -n $unset ]] && shopt -u extglob
            ;;
          folders*)
            compopt -o filenames 2>/dev/null
            while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -d -- "${current#--*=}")
            ;;
          *)
            [[ $kind == *nospace* ]] && compopt -o nospace 2>/dev/null
            while IFS= read -r line; do
              line="${line%%$'\t'*}"
              for ((i = 0; i < ${#cut}; i++)); do
                [[ ${cut:i:1} == [:=] ]] && line="${line#*[:=]}"
              done
              [[ -z $quote ]] && printf -v line '%q' "$line"
              COMPREPLY+=("$line")
            done
            ;;
        esac
      } < <("$tool" --complete bash "${words[@]:1}" 2>/dev/null)
    }
    complete -F _fieldpack fieldpack

    """#

  private static let zshScript = #"""
    #compdef fieldpack
    # Completions of fieldpack for zsh: source <(fieldpack completions zsh), after compinit
    _fieldpack() {
      local -a lines plain described options
      local kind line word
      lines=("${(@f)$("${(Q)words[1]}" --complete zsh "${(@Q)words[2,CURRENT]}" 2>/dev/null)}")
      kind="$lines[1]"
      shift lines
      case "$kind" in
        files*)
          local extensions="${kind#files}"
          [[ $PREFIX == --*=* ]] && compset -P '*='
          if [[ -n $extensions ]]; then
            _files -g "*.(${(j:|:)${=extensions}})(-.)"
          else
            _files
          fi
          ;;
        folders*)
          [[ $PREFIX == --*=* ]] && compset -P '*='
          _files -/
          ;;
        *)
          [[ $kind == *nospace* ]] && options=(-S '')
          for line in "${lines[@]}"; do
            [[ -z $line ]] && continue
            word="${line%%$'\t'*}"
            plain+=("$word")
            if [[ $line == *$'\t'* ]]; then
              described+=("$word  -- ${line#*$'\t'}")
            else
              described+=("$word")
            fi
          done
          (( $#plain )) && compadd "${options[@]}" -l -d described -a plain
          ;;
      esac
    }
    compdef _fieldpack fieldpack

    """#

  private static let fishScript = #"""
    # Completions of fieldpack for fish: fieldpack completions fish | source
    function __fieldpack_complete
      set -l words (commandline -opc)
      set -l current (commandline -ct | string unescape)
      set -l lines ($words[1] --complete fish $words[2..-1] "$current" 2>/dev/null)
      set -l prefix (string match -r -- '^--[^=]*=' "$current")
      set -l part (string replace -r -- '^--[^=]*=' '' "$current")
      switch "$lines[1]"
        case 'files*'
          set -l extensions (string split -n ' ' -- (string replace files '' -- $lines[1]))
          for path in (complete -C "'' $part" | string replace -r '\t.*' '')
            if test -d "$path"; or test -z "$extensions"
              echo "$prefix$path"
            else if contains -- (string replace -r '.*\.' '' -- $path) $extensions
              echo "$prefix$path"
            end
          end
        case 'folders*'
          for path in (__fish_complete_directories "$part" '')
            echo "$prefix$path"
          end
        case '*'
          printf '%s\n' $lines[2..-1]
      end
    end
    complete -c fieldpack -f -a '(__fieldpack_complete)'

    """#
}
