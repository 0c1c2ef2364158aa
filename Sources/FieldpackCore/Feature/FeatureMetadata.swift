/// When a feature was created and last changed, and by whom, as far as the change log of its layer tells.
public struct FeatureMetadata: Hashable, Sendable {
  /// When the feature was created; `nil` for a feature that is older than the log.
  public var created: Instant?
  /// When it was last changed, or created.
  public var modified: Instant?
  /// Who did that; `nil` where nobody was named.
  public var author: String?
  /// The UUID of the device on which that was done.
  public var device: String?

  public init(
    created: Instant? = nil, modified: Instant? = nil, author: String? = nil, device: String? = nil
  ) {
    (self.created, self.modified, self.author, self.device) = (created, modified, author, device)
  }
}

extension FeatureMetadata {
  /// The members as columns of an answer.
  package enum Column: String, CaseIterable, Sendable {
    case created, modified, author, device

    private var description: String {
      switch self {
      case .created: "when the feature was created, by the change log"
      case .modified: "when the feature was last changed, by the change log"
      case .author: "who last changed the feature, by the change log"
      case .device: "the device of the last change, by the change log"
      }
    }

    private var type: ColumnType {
      switch self {
      case .created, .modified: .dateTime
      case .author, .device: .text()
      }
    }

    fileprivate func definition(_ isTaken: (String) -> Bool) -> ColumnDefinition {
      var column = ColumnDefinition(
        rawValue.numbered { !isTaken($0) }, type, description: description)
      column.metadata = self
      return column
    }
  }

  /// The columns, with names that no column of the layer has.
  static func columns(beside schema: Schema) -> [ColumnDefinition] {
    Column.allCases.map { column in
      column.definition { name in
        schema.columnIndex(name) != nil || schema.idColumn?.lowercased() == name
          || schema.geometry?.name.lowercased() == name
      }
    }
  }

  mutating func set(_ column: Column, to value: Value) {
    switch (column, value) {
    case (.created, .dateTime(let time)): created = time
    case (.modified, .dateTime(let time)): modified = time
    case (.author, .text(let text)): author = text
    case (.device, .text(let text)): device = text
    default: break
    }
  }

  var isEmpty: Bool { self == FeatureMetadata() }
}
