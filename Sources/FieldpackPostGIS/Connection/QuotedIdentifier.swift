package import FieldpackCore
import FieldpackSQLite

/// The longest name that PostgreSQL keeps, in bytes; it would cut longer names silently.
let longestIdentifier = 63

/// A name as SQL has it between double quotes. Every name in a statement goes through here.
///
/// - Throws: `.invalidArgument` for a name that PostgreSQL cannot have: an empty one, one with a NUL, or
///   one of more than 63 bytes in UTF-8.
package func quoted(identifier: String) throws(FieldpackError) -> String {
  let length = identifier.utf8.count
  guard length > 0 else { throw FieldpackError(.invalidArgument, "a name is empty") }
  guard length <= longestIdentifier else {
    throw FieldpackError(
      .invalidArgument,
      "the name '\(identifier)' has \(length) bytes, and names in PostgreSQL have at most "
        + "\(longestIdentifier)")
  }
  guard !identifier.utf8.contains(0) else {
    throw FieldpackError(.invalidArgument, "a name has a character NUL")
  }
  return quotedUnchecked(identifier)
}

/// A name that the database itself told, between double quotes.
func quotedUnchecked(_ name: String) -> String { FieldpackSQLite.quoted(name) }
