package protocol HeapElement {
  func precedes(_ other: Self) -> Bool
}

/// A binary heap whose first element precedes all others.
package struct Heap<Element: HeapElement> {
  package private(set) var elements: [Element] = []

  package init() {}

  package var first: Element? { elements.first }
  package var count: Int { elements.count }

  package mutating func insert(_ element: Element) {
    elements.append(element)
    var index = elements.count - 1
    while index > 0, elements[index].precedes(elements[(index - 1) / 2]) {
      elements.swapAt(index, (index - 1) / 2)
      index = (index - 1) / 2
    }
  }

  package mutating func removeFirst() -> Element? {
    guard let last = elements.popLast() else { return nil }
    return elements.isEmpty ? last : replaceFirst(last)
  }

  /// - Precondition: the heap is not empty.
  @discardableResult package mutating func replaceFirst(_ element: Element) -> Element {
    let first = elements[0]
    elements[0] = element
    var index = 0
    while true {
      var best = index
      var child = 2 * index + 1
      let end = min(child + 2, elements.count)
      while child < end {
        if elements[child].precedes(elements[best]) { best = child }
        child += 1
      }
      if best == index { return first }
      elements.swapAt(index, best)
      index = best
    }
  }
}
