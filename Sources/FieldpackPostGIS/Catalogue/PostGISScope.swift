package import FieldpackCore

/// What of a database a store shows.
package struct PostGISScope: Hashable, Sendable {
  /// A table that a config names.
  package struct Table: Hashable, Sendable {
    package var name: String
    /// The column of the feature id, for a view or a table without a key.
    package var id: String?

    package init(_ name: String, id: String? = nil) {
      self.name = name
      self.id = id
    }
  }

  package var schema = "public"
  /// The tables in order; `nil` is all.
  package var tables: [Table]?
  package var style: LayerStyle?

  package init() {}
}
