public import FieldpackGeometry

// `Value` in here is the value of the literal's elements.

/// Names with values, in order; names are compared exactly.
///
///     let attributes: Attributes = ["name": "Markt \(number)", "depth": top + 12.5, "use": nil]
///
/// Values are literals or expressions of any ``AttributeValue``; `nil` is NULL.
public struct Attributes: Hashable, Sendable, ExpressibleByDictionaryLiteral {
  public private(set) var elements: [Element]

  public struct Element: Hashable, Sendable {
    public var name: String
    public var value: FieldpackCore.Value

    public init(name: String, value: FieldpackCore.Value) {
      self.name = name
      self.value = value
    }
  }

  public init(_ elements: [Element] = []) {
    self.elements = []
    self.elements.reserveCapacity(elements.count)
    for element in elements { self[element.name] = element.value }
  }

  public init(dictionaryLiteral elements: (String, (any AttributeValue)?)...) {
    self.elements = []
    self.elements.reserveCapacity(elements.count)
    for (name, value) in elements { self[name] = value?.attributeValue ?? .null }
  }

  /// The value of `name`; `nil` means that no value is given, which differs from `.null`.
  public subscript(name: String) -> FieldpackCore.Value? {
    get { elements.first { $0.name.hasSameBytes(as: name) }?.value }
    set {
      guard let index = elements.firstIndex(where: { $0.name.hasSameBytes(as: name) }) else {
        if let newValue { elements.append(Element(name: name, value: newValue)) }
        return
      }
      if let newValue {
        elements[index].value = newValue
      } else {
        elements.remove(at: index)
      }
    }
  }

  public var isEmpty: Bool { elements.isEmpty }
  public var names: [String] { elements.map(\.name) }
}

/// A feature as a value: for single features and small sets; scans lend rows instead.
///
///     var well = Feature(
///       geometry: .point(x: 13.9, y: 51.95), attributes: ["name": "Markt 41", "depth": 12.5])
///     well.attributes["active"] = true
///     let depth = Column<Double>("depth")
///     well[depth] = (well[depth] ?? 0) + 1.5
public struct Feature: Hashable, Sendable {
  /// The key tuple of a stored feature; `nil` for one that is not stored yet.
  public var key: KeyTuple?
  /// The id of a stored feature, or the id wanted for a new one; `nil` lets the store choose it.
  public var id: FeatureID?
  /// The geometry; `nil` where the feature has none.
  public var geometry: Geometry?
  public var attributes: Attributes
  /// What the change log of the layer tells; `nil` where there is none, or where it has no edit of the
  /// feature. Of the features of a query only with ``Query/withMetadata()``.
  public var metadata: FeatureMetadata?

  public init(
    key: KeyTuple? = nil, id: FeatureID? = nil, geometry: Geometry? = nil,
    attributes: Attributes = [:]
  ) {
    self.key = key
    self.id = id ?? key?.feature
    self.geometry = geometry
    self.attributes = attributes
  }

  /// The value of a typed column; `nil` where it is absent, NULL or of another type. Setting it to
  /// `nil` makes it NULL.
  public subscript<V: AttributeValue>(column: Column<V>) -> V? {
    get { attributes[column.name].flatMap(V.init(attributeValue:)) }
    set { attributes[column.name] = .some(newValue?.attributeValue ?? .null) }
  }
}

/// What an update does with the geometry.
public enum GeometryUpdate: Hashable, Sendable {
  case keep
  case set(Geometry?)
}
